"""`attncli test` for a class: the functions of many students, a row for each, and a page for each
student.
"""
