"""What can go wrong with the embedded model, in words for the person at the terminal."""

from jp.errors import LOCKED, JpError, UsageError


class UnknownModelError(UsageError):
    """No embedded model has this name."""

    code = "unknown_model"


class NotInstalledError(JpError):
    """The weights are not on this machine."""

    code = "model_not_installed"


class RuntimeMissingError(JpError):
    """The package that runs the model is not installed."""

    code = "local_runtime_missing"


class InstallError(JpError):
    """The weights could not be fetched; what came is kept for the next try."""

    code = "model_install_failed"


class BusyError(JpError):
    """Another process is installing or removing this model."""

    code = "model_busy"
    status = LOCKED


class DiskFullError(JpError):
    """The weights do not fit on the disk."""

    code = "disk_full"


class CorruptError(JpError):
    """What was fetched is not what the catalogue says, from any source."""

    code = "model_corrupt"


class LoadError(JpError):
    """The model's process ended, or never came up."""

    code = "model_load_failed"


class OutOfMemoryError(LoadError):
    """The machine has not the memory that the model wants."""

    code = "out_of_memory"


class PromptTooLongError(JpError):
    """The conversation does not fit into the model's context."""

    code = "prompt_too_long"
