"""What the pages show: view models, pictures and charts."""
