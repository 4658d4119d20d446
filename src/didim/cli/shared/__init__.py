"""What several commands share. A command's own part is in its file beside this folder."""
