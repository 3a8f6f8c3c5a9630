"""View models, pictures and charts of the pages."""
