"""The experiments of the paper, section VI, on a virtual SCARA: tables, figures and claims."""
