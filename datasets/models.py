"""Datasets, their immutable versions and rows, and the jobs that make them."""

from __future__ import annotations

from functools import partial

from django.db import models
from django.db.models.functions import Lower
from django.utils.translation import gettext_lazy as _

from assay.data.checkup import KINDS, FindingKind, KindInfo
from assay.data.exact import loads
from assay.data.jsonx import JSONObject
from assay.data.text import Sentence
from blobs.models import Blob
from workspace.fields import new_ref
from workspace.models import LeasedJob, Project, Timestamped, User
from workspace.sentences import say


class Dataset(Timestamped):
    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, related_name="datasets"
    )
    ref = models.CharField(
        max_length=40, unique=True, default=partial(new_ref, "dataset")
    )
    name = models.CharField(max_length=120)
    slug = models.SlugField(max_length=120)
    description = models.TextField(blank=True, default="")
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                "project", Lower("name"), name="dataset_name_unique"
            ),
            models.UniqueConstraint("project", "slug", name="dataset_slug_unique"),
        ]

    def __str__(self) -> str:
        return self.name


class DatasetVersion(Timestamped):
    """The rows of a dataset at one time. Nothing changes once it is `ready`.

    `columns` is a list of `{name, kind, filled, sample}` in file order; `kind` is
    one of text, number, boolean, json, chat, image, audio, tools, mixed, empty;
    `filled` counts rows with a value; `stats` is what `assay.data.colstats` tells.
    `import_report` tells what was detected and found. `content` (" text image ") and
    `column_names` are there to filter lists.

    A file that a person uploaded is in `REVIEW` while somebody has to decide about
    what was found in it. Until then no run can use it. A version made of another one
    (`base`) has no `original`.
    """

    class Source(models.TextChoices):
        UPLOAD = "upload", _("Upload")
        SAMPLE = "sample", _("Sample")
        EDIT = "edit", _("Edited")
        PART = "part", _("Part of a dataset")

    class State(models.IntegerChoices):
        IMPORTING = 1, _("Importing")
        READY = 2, _("Ready")
        FAILED = 3, _("Failed")
        REVIEW = 4, _("Check-up")

    dataset = models.ForeignKey(
        Dataset, on_delete=models.CASCADE, related_name="versions"
    )
    ref = models.CharField(
        max_length=40, unique=True, default=partial(new_ref, "dsver")
    )
    number = models.PositiveIntegerField()
    source = models.CharField(
        max_length=10, choices=Source.choices, default=Source.UPLOAD
    )
    state = models.IntegerField(choices=State.choices, default=State.IMPORTING)
    row_count = models.PositiveIntegerField(default=0)
    columns = models.JSONField(default=list)
    content = models.CharField(max_length=120, blank=True, default="")
    column_names = models.TextField(blank=True, default="")
    import_report = models.JSONField(default=dict)
    original = models.ForeignKey(
        Blob, null=True, on_delete=models.PROTECT, related_name="+"
    )
    base = models.ForeignKey(
        "self", null=True, on_delete=models.SET_NULL, related_name="+"
    )
    original_name = models.CharField(max_length=200, blank=True, default="")
    digest = models.CharField(max_length=64, blank=True, default="")
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL)

    previous: int | None = None
    """The number of the version before; set by `queries.versions_of`."""

    class Meta:
        constraints = [
            models.UniqueConstraint("dataset", "number", name="version_number_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.dataset} v{self.number}"


class Contents(models.IntegerChoices):
    """Bits that tell what a row holds, to filter rows without reading them."""

    IMAGE = 1
    AUDIO = 2
    CHAT = 4


class Row(models.Model):
    """One row. `data` is JSON text: key order, escapes and digits survive.

    `index` counts the rows of a version from 1 without gaps. `contents` are bits of
    `Contents`.
    """

    version = models.ForeignKey(
        DatasetVersion, on_delete=models.CASCADE, related_name="rows"
    )
    index = models.PositiveIntegerField()
    data = models.TextField()
    digest = models.CharField(max_length=64)
    contents = models.PositiveSmallIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint("version", "index", name="row_index_unique"),
        ]

    def __str__(self) -> str:
        return f"row {self.index} of {self.version_id}"

    @property
    def values(self) -> JSONObject:
        value = loads(self.data)
        assert isinstance(value, dict)
        return value


class RowFinding(models.Model):
    """Something questionable in a row, found by the check-up.

    `kind` is an `assay.data.checkup.FindingKind`; `detail` the message and params of
    a `Sentence`.
    """

    version = models.ForeignKey(
        DatasetVersion, on_delete=models.CASCADE, related_name="findings"
    )
    index = models.PositiveIntegerField()
    kind = models.PositiveSmallIntegerField()
    column = models.TextField(blank=True, default="")
    detail = models.JSONField()

    class Meta:
        indexes = [
            models.Index(fields=["version", "kind", "index"], name="finding_kind"),
            models.Index(fields=["version", "index"], name="finding_row"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} in row {self.index} of {self.version_id}"

    @property
    def sentence(self) -> Sentence:
        message, params = self.detail
        return Sentence(message, params)

    @property
    def info(self) -> KindInfo:
        return KINDS[FindingKind(self.kind)]

    @property
    def label(self) -> str:
        return say(self.info.label)


class RowChange(models.Model):
    """A change of a row by a person, kept until it is saved as the next version.

    A change that is not saved yet belongs to the version whose rows it changes; saving
    hands it to the new version, whose job applies it to the rows of its `base` and
    then removes it.
    `index` is the row there; 0 stands for a row that is added at the end.
    `data` is the whole new row as JSON text, "" takes the row out.
    """

    version = models.ForeignKey(
        DatasetVersion, on_delete=models.CASCADE, related_name="changes"
    )
    by = models.ForeignKey(User, on_delete=models.CASCADE)
    index = models.PositiveIntegerField()
    data = models.TextField(blank=True, default="")
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                "version",
                "by",
                "index",
                condition=models.Q(index__gt=0),
                name="change_row_unique",
            ),
        ]

    def __str__(self) -> str:
        return f"change of row {self.index} of {self.version_id}"


class DataJob(LeasedJob):
    """The job that fills a version with rows.

    `UPLOAD` reads the file; its `request` is a `datasets.requests.ReadRequest`.
    `DERIVE` takes the rows of the version's `base`; its `request` is a
    `datasets.requests.DeriveRequest`.
    """

    class Kind(models.TextChoices):
        UPLOAD = "upload"
        DERIVE = "derive"

    project = models.ForeignKey(Project, on_delete=models.CASCADE)
    kind = models.CharField(max_length=12, choices=Kind.choices, default=Kind.UPLOAD)
    version = models.OneToOneField(
        DatasetVersion, on_delete=models.CASCADE, related_name="job"
    )
    request = models.JSONField(default=dict)

    class Meta:
        indexes = [models.Index(fields=["state", "lease_until"], name="datajob_state")]

    def __str__(self) -> str:
        return f"{self.kind} {self.ref}"
