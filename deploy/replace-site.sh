#!/bin/sh
# Upgrades the site without a gap, behind a proxy of your own that knows two ports: the new container starts on the free one, then the
# old one stops. Not for a roll-back, which must not migrate. Set once in .env, then run `docker compose up -d`:
#   SITE_PORTS=127.0.0.1:3000-3001
#   TRUST_PROXY=1
#   PUBLIC_URL=https://perennial.example
# The proxy, for example Caddy 2.11.4 or newer:
#   perennial.example {
#     reverse_proxy 127.0.0.1:3000 127.0.0.1:3001 {
#       lb_policy round_robin
#       lb_retries 2
#       fail_duration 5s
#       health_uri /healthz
#       health_interval 1s
#       transport http {
#         keepalive 200ms # a stopping site keeps idle connections for 500 ms
#       }
#     }
#   }
# Then, in the folder of docker-compose.yml: sh deploy/replace-site.sh
set -eu

old=$(docker compose ps -q site)
[ "$(echo "$old" | grep -c .)" -eq 1 ] || { echo "One container of the site must run: docker compose ps site" >&2 && exit 1; }
docker compose run --rm --no-deps migrate
if docker compose up -d --no-deps --no-recreate --scale site=2 --wait --wait-timeout 120 site; then
  docker stop "$old"
  docker rm "$old"
else
  docker compose logs --tail 20 site >&2
  new=$(docker compose ps -aq site | grep -v "$old") && docker rm -f $new
  echo "The new container did not start or is not healthy, and was removed. The old one keeps running." >&2
  exit 1
fi
