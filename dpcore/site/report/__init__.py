"""Reports: a Markdown or TOML file becomes a page, a PDF, or a document for a word processor, with computed numbers."""

from dpcore.site.report.build import OUTPUTS, BuiltReport, build_report, is_report
from dpcore.site.report.document import Document, load_document

__all__ = ["OUTPUTS", "BuiltReport", "Document", "build_report", "is_report", "load_document"]
