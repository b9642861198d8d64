# Builds the site, and runs it as one process on Debian, with Node and without node_modules. The target studio adds Prisma's CLI.
# No stage runs a command on another architecture, so the build needs no emulation.
FROM --platform=$BUILDPLATFORM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci
# The modes of a clone that was made with umask 077 would stop the site's user.
COPY --chmod=755 . .
RUN npm run build

# Prisma's CLI alone, with the versions of the lock file.
FROM --platform=$BUILDPLATFORM node:24-slim AS prisma
WORKDIR /app
COPY package.json package-lock.json ./
RUN prisma=$(node --print "require('./package.json').devDependencies.prisma") && \
  npm pkg delete dependencies devDependencies overrides && npm install --ignore-scripts "prisma@$prisma"

# Debian instead of Node's image, which has npm, npx, yarn and corepack: nothing here runs them, and scanners report them.
FROM debian:trixie-slim AS runtime
COPY --from=node:24-slim /usr/local/bin/node /usr/local/bin/
COPY --from=node:24-slim /usr/local/LICENSE* /usr/local/
# HOME: user 1000 has none. With one heap per thread, glibc holds up to 25 MB more under sign-ups (Node 24), and is no faster.
ENV NODE_ENV=production HOST=:: PORT=3000 HOME=/tmp MALLOC_ARENA_MAX=1
WORKDIR /app
COPY --from=build /app/dist ./dist
COPY --from=build /app/prisma ./prisma
USER 1000:1000

FROM runtime AS studio
COPY --from=prisma /app/node_modules ./node_modules
COPY --chmod=755 prisma.config.ts ./
CMD ["node", "dist/server/studio.js", "--forward"]

FROM runtime AS site
# Without a limit, V8's heap could grow to the container's memory limit, and the kernel would kill the process.
ENV NODE_OPTIONS=--max-old-space-size=120
EXPOSE 3000
COPY --chmod=755 server/health-check.sh ./
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s CMD ["bash", "health-check.sh"]
# For a limit of 256 MB: with Node's defaults, the heap takes much more memory. A smaller young generation would slow sign-ups by garbage collection.
CMD ["node", "--max-semi-space-size=16", "--heap-growing-percent=20", "dist/server/index.js"]
# Keep the labels last: the revision changes with every commit and would invalidate the build cache.
ARG VERSION=unknown REVISION=unknown
LABEL org.opencontainers.image.title="Perennial early access" \
  org.opencontainers.image.description="A server-rendered landing page with a waitlist in Postgres" \
  org.opencontainers.image.version="$VERSION" \
  org.opencontainers.image.revision="$REVISION"
