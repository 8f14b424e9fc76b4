"""`attncli check` for a class: many solutions, a row for each, and a page for each student."""
