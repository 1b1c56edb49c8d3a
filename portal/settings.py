"""All settings. Every knob is an environment variable with a safe default."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

import dj_database_url

from portal.env import env_bool, env_int, env_list, env_secret, env_text

PRODUCT_NAME = "Assay"

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = Path(env_text("ASSAY_DATA_DIR", "var")).resolve()
DATA_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)

DEBUG = env_bool("ASSAY_DEBUG", default=False)
PORT = env_int("PORT", 8000)
HOST = env_text("ASSAY_HOST", "127.0.0.1")
ALLOWED_HOSTS = env_list("ASSAY_ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = env_list("ASSAY_TRUSTED_ORIGINS")


def _secret_key() -> str:
    """The configured key, or one made at first start and kept beside the data."""
    configured = env_secret("ASSAY_SECRET_KEY")
    if configured:
        return configured
    path = DATA_DIR / "secret_key"
    try:
        with path.open("x", encoding="utf-8") as handle:
            path.chmod(0o600)
            handle.write(secrets.token_urlsafe(48))
    except FileExistsError:
        pass
    return path.read_text(encoding="utf-8").strip()


SECRET_KEY = _secret_key()
SECRET_KEY_FALLBACKS = env_list("ASSAY_SECRET_KEY_FALLBACKS")

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "template_partials",
    "workspace",
    "blobs",
    "targets",
    "datasets",
    "evaluators",
    "rubrics",
    "evaluations",
    "portal",
]

MIDDLEWARE = [
    "workspace.middleware.RequestIdMiddleware",
    "workspace.middleware.BodyTimeoutMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "workspace.middleware.ContentSecurityMiddleware",
    "django.middleware.gzip.GZipMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "workspace.middleware.SignInRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "portal.urls"
WSGI_APPLICATION = "portal.wsgi.application"

TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "workspace.context.shell",
            ],
            "builtins": ["template_partials.templatetags.partials"],
        },
    }
]

# Database: SQLite beside the data unless DATABASE_URL says otherwise.
DATABASE_URL = env_secret("DATABASE_URL")
if DATABASE_URL:
    DATABASES: dict[str, Any] = {
        "default": dj_database_url.parse(DATABASE_URL, conn_max_age=60)
    }
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
else:
    DATABASES = {
        "default": {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": DATA_DIR / "assay.sqlite3",
            "CONN_MAX_AGE": None,
            "OPTIONS": {
                "timeout": 20,
                "transaction_mode": "IMMEDIATE",
                "init_command": (
                    "PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL;"
                    "PRAGMA cache_size=-8000;"
                ),
            },
        }
    }
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "workspace.User"
AUTHENTICATION_BACKENDS = ["workspace.auth.EmailBackend"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 10},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "sign_in"
LOGIN_REDIRECT_URL = "home"
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 60 * 60 * 24 * 30
SESSION_ENGINE = "django.contrib.sessions.backends.db"
SECURE_BEHIND_HTTPS = env_bool("ASSAY_HTTPS", default=False)
SESSION_COOKIE_SECURE = SECURE_BEHIND_HTTPS
CSRF_COOKIE_SECURE = SECURE_BEHIND_HTTPS
if SECURE_BEHIND_HTTPS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

# Cookies are not told apart by port: two portals on one machine need two names.
_COOKIE = env_text("ASSAY_COOKIE_PREFIX", f"assay{PORT}")
SESSION_COOKIE_NAME = f"{_COOKIE}_session"
CSRF_COOKIE_NAME = f"{_COOKIE}_csrf"

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English")]
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = env_text("ASSAY_TIME_ZONE", "UTC")

STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = DATA_DIR / "static"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "portal.staticfiles.HashedStaticFiles"},
}
WHITENOISE_MAX_AGE = 31536000 if not DEBUG else 0
WHITENOISE_AUTOREFRESH = DEBUG
WHITENOISE_USE_FINDERS = DEBUG

# Uploads are streamed to disk; limits are checked while reading.
DATA_UPLOAD_MAX_MEMORY_SIZE = 8 * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5000
FILE_UPLOAD_HANDLERS = ["django.core.files.uploadhandler.TemporaryFileUploadHandler"]
FILE_UPLOAD_TEMP_DIR = DATA_DIR / "tmp"
FILE_UPLOAD_TEMP_DIR.mkdir(parents=True, exist_ok=True)
MAX_UPLOAD_BYTES = env_int("ASSAY_MAX_UPLOAD_MB", 512) * 1024 * 1024
MAX_ROW_BYTES = env_int("ASSAY_MAX_ROW_BYTES", 2 * 1024 * 1024)
MAX_ROWS = env_int("ASSAY_MAX_ROWS", 100_000)
MAX_MEDIUM_BYTES = env_int("ASSAY_MAX_MEDIUM_MB", 20) * 1024 * 1024
MAX_COLUMNS = env_int("ASSAY_MAX_COLUMNS", 2000)
BLOB_DIR = DATA_DIR / "blobs"

# Jobs: Redis when REDIS_URL is set, else messages as files beside the data. The
# database is the truth; a lost message costs a few seconds, never work.
REDIS_URL = env_secret("REDIS_URL")
BROKER_DIR = DATA_DIR / "broker"
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_DEFAULT_QUEUE = "interactive"
CELERY_TASK_ROUTES = {"evaluations.tasks.work": {"queue": "runs"}}
CELERY_BEAT_SCHEDULE_FILENAME = str(DATA_DIR / "beat")
if REDIS_URL:
    CELERY_BROKER_URL = REDIS_URL
    CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = {
        "visibility_timeout": 3600,
        "global_keyprefix": env_text("ASSAY_REDIS_PREFIX", "assay:"),
    }
else:
    for folder in ("messages", "control", "processed"):
        (BROKER_DIR / folder).mkdir(parents=True, exist_ok=True)
    CELERY_BROKER_URL = "assayfiles://localhost/"
    CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "data_folder_in": str(BROKER_DIR / "messages"),
        "data_folder_out": str(BROKER_DIR / "messages"),
        "control_folder": str(BROKER_DIR / "control"),
        "processed_folder": str(BROKER_DIR / "processed"),
        "store_processed": False,
        "polling_interval": 0.1,
    }

# Engine
BODY_TIMEOUT_SECONDS = env_int("ASSAY_BODY_TIMEOUT_SECONDS", 30)
LEASE_SECONDS = env_int("ASSAY_LEASE_SECONDS", 90)
SWEEP_SECONDS = env_int("ASSAY_SWEEP_SECONDS", 15)
CHUNK_ROWS = env_int("ASSAY_CHUNK_ROWS", 50)
RUN_THREADS = env_int("ASSAY_RUN_THREADS", 16)
INTERACTIVE_THREADS = env_int("ASSAY_INTERACTIVE_THREADS", 4)
WORKER_HEARTBEAT_SECONDS = env_int("ASSAY_HEARTBEAT_SECONDS", 5)

# Models
SIMULATOR_URL = env_text("ASSAY_SIMULATOR_URL")
MODEL_TIMEOUT_SECONDS = env_int("ASSAY_MODEL_TIMEOUT_SECONDS", 120)
# Beside public addresses, where links in datasets may lead; models have their own.
LINK_NETWORKS = env_list("ASSAY_LINK_NETWORKS", "")
PRIVATE_NETWORKS = env_list("ASSAY_PRIVATE_NETWORKS", "127.0.0.0/8,::1/128")

LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"},
    },
    "filters": {
        # /healthz answers 503 while a part starts: that is its job, not a fault.
        "no_health": {
            "()": "django.utils.log.CallbackFilter",
            "callback": lambda record: getattr(record, "status_code", 0) != 503,
        },
    },
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "formatter": "line",
            "filters": ["no_health"],
        },
    },
    "root": {"handlers": ["console"], "level": env_text("ASSAY_LOG_LEVEL", "INFO")},
    "loggers": {
        "celery": {"level": "WARNING"},
        "httpx2": {"level": "WARNING"},
        "openai": {"level": "WARNING"},
    },
}
