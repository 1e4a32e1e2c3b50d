# Made by generate.py from _async/__init__.py: do not change it by hand.
