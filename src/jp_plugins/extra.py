"""What the plugins need beside JP itself: the packages of the extra `plugins`."""

INSTALL = "pip install 'jean-pierre[plugins]'"


def missing() -> str:
    """Why documents can't be made and what to do about it; empty where they can."""
    try:
        import markdown_it  # noqa: F401
        import pygments  # noqa: F401
    except ImportError as error:
        return f"the package {error.name or 'markdown-it-py'} is not installed; install the extra: {INSTALL}"
    return ""
