"""The lists of items: model, delegate, view."""
