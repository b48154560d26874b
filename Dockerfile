# Trellis with the git and the bubblewrap it starts. Everything it keeps is in /data.
#
#   docker build -t trellis .
#   docker run -d --name trellis -p 8787:8787 -v trellis:/data -e TRELLIS_BASE_URL=http://localhost:8787 trellis

# Not the slim one: it has no library that the Node which is installed here is linked with.
FROM node:24-bookworm AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages/console/package.json packages/console/
COPY packages/contract/package.json packages/contract/
COPY packages/extension/package.json packages/extension/
COPY packages/server/package.json packages/server/
# Brings the Node that Trellis runs on, as everywhere else, and a second copy of it with its headers, which goes.
RUN npm ci --omit=dev && rm -rf node_modules/node/node_modules
COPY packages packages
COPY LICENSE tsconfig.json ./
RUN npm run build

FROM debian:bookworm-slim
# libatomic1 is for Node.
RUN apt-get update \
  && apt-get install -y --no-install-recommends bubblewrap ca-certificates git libatomic1 tini \
  && rm -rf /var/lib/apt/lists/*
RUN useradd --uid 10001 --home-dir /data --shell /usr/sbin/nologin trellis \
  && install -d -o trellis -g trellis -m 0700 /data
WORKDIR /app
COPY --from=build /app ./
ENV PATH=/app/node_modules/.bin:/usr/local/bin:/usr/bin:/bin \
  NODE_COMPILE_CACHE=/tmp/trellis-compile-cache \
  TRELLIS_DATA=/data \
  TRELLIS_LISTEN=0.0.0.0:8787
USER trellis
VOLUME /data
EXPOSE 8787
STOPSIGNAL SIGTERM
# Alive, not ready: nobody is to end a server that is migrating, or waits for its database.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD ["node", "packages/server/src/healthcheck.ts"]
# Takes note of processes that ended and that nobody waits for.
ENTRYPOINT ["tini", "--"]
CMD ["node", "packages/server/src/main.ts"]
