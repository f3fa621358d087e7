"""Rows of rules: documents, sections, directives, their folders and relations."""
