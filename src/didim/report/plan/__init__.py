"""The HTML report of a plan (`Plan.report`): one module and one template for each section."""
