from __future__ import annotations

from django.urls import path

from workspace import views

urlpatterns = [
    path("", views.home, name="home"),
    path("sign-in/", views.sign_in, name="sign_in"),
    path("sign-out/", views.sign_out, name="sign_out"),
    path("password/", views.set_password, name="set_password"),
    path("account/", views.account, name="account"),
    path("theme/", views.theme, name="theme"),
]
