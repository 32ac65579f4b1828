# The agent, and contiv-cni for the host. VPP runs in a container of its own; agent and VPP share /run/vpp (see
# deploy/).
#
#   docker build -t contiv-vswitch --build-arg COMMIT_HASH=$(git rev-parse HEAD) .
FROM node:24-bookworm-slim AS cni
RUN apt-get update \
 && apt-get install -y --no-install-recommends gcc libc6-dev \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /build
COPY package.json ./
COPY scripts/build-cni.ts scripts/
COPY scripts/lib/contiv-cni.ts scripts/lib/
COPY src src
RUN node scripts/build-cni.ts

FROM node:24-bookworm-slim AS build

WORKDIR /opt/contiv-vswitch
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY src src
COPY plugins plugins
COPY scripts scripts
RUN npm run build:agent

FROM node:24-bookworm-slim
WORKDIR /opt/contiv-vswitch
COPY package.json package-lock.json .npmrc ./
# The packages node-linux-* bring a Node.js for machines with an older one; the image has its own.
RUN npm ci --omit=dev && rm -r node_modules/node-linux-* node_modules/.bin/node && npm cache clean --force
COPY examples examples
COPY --from=build /opt/contiv-vswitch/dist dist
# Fills the compile cache.
RUN dist/cmd/agent/main.js --help && dist/cmd/ksr/main.js --help
# For the host, which does not run it from here: see deploy/README.md.
COPY --from=cni /build/dist/contiv-cni contiv-cni

ARG BUILD_DATE
ARG COMMIT_HASH
ENV NODE_ENV=production BUILD_DATE=$BUILD_DATE COMMIT_HASH=$COMMIT_HASH

EXPOSE 9999
ENTRYPOINT ["/opt/contiv-vswitch/dist/cmd/agent/main.js"]
