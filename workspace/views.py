"""Signing in and out, the account, the theme, and where a person lands."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import authenticate, login, logout, update_session_auth_hash
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from workspace.forms import AccountForm, ChangePasswordForm, SetPasswordForm, SignInForm
from workspace.models import User
from workspace.scoping import first_project
from workspace.signin import count_failure, is_throttled, use_token
from workspace.ways import safe_next


@never_cache
def sign_in(request: HttpRequest) -> HttpResponse:
    if request.user.is_authenticated:
        return redirect(safe_next(request) or "home")
    secret = request.GET.get("token")
    if secret:
        return _sign_in_once(request, secret)
    form = SignInForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        return _sign_in_by_password(request, form)
    status = 422 if form.errors else 200
    context = {"form": form, "next": request.GET.get("next", "")}
    return render(request, "workspace/sign_in.html", context, status=status)


def _sign_in_once(request: HttpRequest, secret: str) -> HttpResponse:
    user = use_token(secret)
    if user is None:
        form = SignInForm()
        context = {"form": form, "used_up": True}
        return render(request, "workspace/sign_in.html", context, status=403)
    login(request, user, backend=settings.AUTHENTICATION_BACKENDS[0])
    return redirect("home" if user.has_usable_password() else "set_password")


def _sign_in_by_password(request: HttpRequest, form: SignInForm) -> HttpResponse:
    email, password = form.cleaned_data["email"], form.cleaned_data["password"]
    origin = request.META.get("REMOTE_ADDR", "")
    if is_throttled(email, origin):
        form.add_error(
            None, _("Too many failed tries. Wait 15 minutes, then try again.")
        )
    else:
        user = authenticate(request, email=email, password=password)
        if user is not None:
            login(request, user)
            return redirect(safe_next(request) or "home")
        count_failure(email, origin)
        form.add_error(None, _("This e-mail and password do not belong together."))
    context = {"form": form, "next": request.POST.get("next", "")}
    return render(request, "workspace/sign_in.html", context, status=422)


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    return redirect("sign_in")


@never_cache
def set_password(request: HttpRequest) -> HttpResponse:
    """Only for a person who has no password yet; later it is changed in the account."""
    user = request.user
    assert isinstance(user, User)
    if user.has_usable_password():
        return redirect("account")
    form = SetPasswordForm(request.POST or None, instance=user)
    if request.method == "POST" and form.is_valid():
        form.save()
        update_session_auth_hash(request, user)
        messages.success(request, _("Password saved."))
        return redirect("home")
    status = 422 if form.errors else 200
    return render(request, "workspace/set_password.html", {"form": form}, status=status)


@never_cache
def account(request: HttpRequest) -> HttpResponse:
    user = request.user
    assert isinstance(user, User)
    changing = "new" in request.POST
    form = AccountForm(
        request.POST if request.POST and not changing else None, instance=user
    )
    password_form = ChangePasswordForm(user, request.POST if changing else None)
    if changing and password_form.is_valid():
        user.set_password(password_form.cleaned_data["new"])
        user.save(update_fields=["password"])
        update_session_auth_hash(request, user)
        messages.success(request, _("Password changed."))
        return redirect("account")
    if request.method == "POST" and not changing and form.is_valid():
        form.save()
        messages.success(request, _("Account saved."))
        return redirect("account")
    request.project = first_project(user)  # type: ignore[attr-defined]
    status = 422 if form.errors or password_form.errors else 200
    context = {"form": form, "password_form": password_form}
    return render(request, "workspace/account.html", context, status=status)


@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    user = request.user
    assert isinstance(user, User)
    value = request.POST.get("theme", "")
    if value in User.Theme.values:
        user.theme = value
        user.save(update_fields=["theme"])
    return redirect(safe_next(request) or "home")


def home(request: HttpRequest) -> HttpResponse:
    user = request.user
    assert isinstance(user, User)
    project = first_project(user)
    if project is None:
        return render(request, "workspace/no_project.html", status=403)
    return redirect(reverse("evaluations", args=[project.slug]))
