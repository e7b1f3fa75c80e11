"""What the site has besides the pages of docs/: nothing in here knows MkDocs, `site/hooks.py` hands it over."""
