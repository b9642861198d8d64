#!/bin/sh
# Writes .env for Docker Compose: the name of the project, the version of Postgres, and new passwords.
#
#   sh deploy/new-env.sh [NAME]   NAME is the folder's if it is not given
set -eu
cd "$(dirname "$0")/.."

refuse() {
  echo "$*" >&2
  exit 1
}

# Compose's alphabet for the names of projects.
plain() {
  printf %s "$1" | tr '[:upper:]' '[:lower:]' | tr -cd 'a-z0-9_-' | sed 's/^[_-]*//; s/[_-]*$//'
}

[ ! -e .env ] || refuse ".env exists. It holds the passwords of this installation."
name=${1-$(plain "$(basename "$PWD")")}
[ -n "$name" ] && [ "$name" = "$(plain "$name")" ] || refuse "Give a name of lower-case letters and digits: sh deploy/new-env.sh NAME"
label="label=com.docker.compose.project=$name"
found=$(docker ps -aq --filter "$label" && docker volume ls -q --filter "$label") || refuse "Docker does not answer: see the line above."
[ -z "$found" ] || refuse "Docker has an installation named $name. Bring back its .env, or give another name: sh deploy/new-env.sh NAME"

password() {
  openssl rand -hex 24
}

# Containers read these files as other users.
chmod a+r deploy/*
text="# docs/configuration.md and .env.example have the other settings. Write values in single quotes.
COMPOSE_PROJECT_NAME='$name'
COMPOSE_PROFILES='backup'
# The major version changes as docs/upgrade.md says.
POSTGRES_VERSION='18'
OWNER_PASSWORD='$(password)'
WEB_PASSWORD='$(password)'
ADMIN_PASSWORD='$(password)'
WORKER_PASSWORD='$(password)'"
umask 077
printf '%s\n' "$text" >.env
echo "Wrote .env for the project $name. Keep a copy: without it, nobody can open the database."
