"""One file for each kind of record that can be read; `didim.signals.tables` chooses among them by
the ending of the name.
"""
