"""Design reports: one document, written as a page, as Markdown or as a PDF file."""
