"""Users, projects, members, sign-in tokens, jobs with a lease, live workers."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager
from django.db import models
from django.db.models.functions import Lower
from django.utils.translation import gettext_lazy as _

from workspace.fields import new_ref


class Timestamped(models.Model):
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        abstract = True


class UserManager(BaseUserManager):
    def create_user(
        self, email: str, password: str | None = None, **fields: Any
    ) -> User:
        user = User(email=email.strip().lower(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user


class User(AbstractBaseUser, Timestamped):
    """A person. Signs in with an e-mail address."""

    class Theme(models.TextChoices):
        SYSTEM = "", _("As the system")
        LIGHT = "light", _("Light")
        DARK = "dark", _("Dark")

    email = models.EmailField(unique=True)
    name = models.CharField(max_length=120, blank=True)
    locale = models.CharField(max_length=10, blank=True)
    theme = models.CharField(max_length=5, choices=Theme.choices, blank=True)
    shortcuts = models.BooleanField(default=True)
    is_active = models.BooleanField(default=True)

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []
    objects: ClassVar[UserManager] = UserManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(Lower("email"), name="user_email_unique"),
        ]

    def __str__(self) -> str:
        return self.name or self.email


class Role(models.IntegerChoices):
    """What a member may do. Each role includes the ones below it."""

    VIEWER = 1, _("Viewer")
    EDITOR = 2, _("Editor")
    OWNER = 3, _("Owner")


class Project(Timestamped):
    name = models.CharField(max_length=120)
    slug = models.SlugField(unique=True)
    settings = models.JSONField(default=dict, blank=True)
    members = models.ManyToManyField(
        User, through="Membership", related_name="projects"
    )

    def __str__(self) -> str:
        return self.name


class Membership(Timestamped):
    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, related_name="memberships"
    )
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.IntegerField(choices=Role.choices, default=Role.EDITOR)

    class Meta:
        constraints = [
            models.UniqueConstraint("project", "user", name="membership_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.project}"


class SignInToken(Timestamped):
    """A one-time sign-in address. Only a digest of the secret is stored."""

    user = models.ForeignKey(User, on_delete=models.CASCADE)
    digest = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"token for {self.user}"


class SignInFailure(models.Model):
    """Failed sign-ins of one address and origin inside a window, for throttling."""

    bucket = models.CharField(max_length=64, unique=True)
    count = models.IntegerField(default=0)
    window_ends = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.bucket}: {self.count}"


class JobState(models.IntegerChoices):
    QUEUED = 1, _("Queued")
    RUNNING = 2, _("Running")
    DONE = 3, _("Done")
    FAILED = 4, _("Failed")
    CANCELED = 5, _("Canceled")


class Leased(models.Model):
    """Work that one process at a time may hold, until `lease_until`."""

    lease = models.CharField(max_length=32, blank=True, default="")
    lease_until = models.DateTimeField(null=True, blank=True)
    lease_owner = models.CharField(max_length=80, blank=True, default="")
    attempts = models.IntegerField(default=0)

    class Meta:
        abstract = True


class LeasedJob(Leased, Timestamped):
    """One background job: a row that can be looked at."""

    ref = models.CharField(max_length=40, unique=True, default=partial(new_ref, "job"))
    state = models.IntegerField(choices=JobState.choices, default=JobState.QUEUED)
    progress = models.BigIntegerField(default=0)
    progress_total = models.BigIntegerField(default=0)
    error = models.TextField(blank=True, default="")
    cancel_requested_at = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True

    @property
    def is_over(self) -> bool:
        return self.state in (JobState.DONE, JobState.FAILED, JobState.CANCELED)


class WorkerProcess(models.Model):
    """A sign of life of one worker process, renewed every few seconds."""

    name = models.CharField(max_length=80, unique=True)
    pid = models.IntegerField()
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.name
