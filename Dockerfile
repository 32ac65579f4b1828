# The images of Contiv-vswitch, each as one target:
#
#   vswitch  contiv-agent, contiv-ksr, contiv-stn and netctl, and contiv-cni for the host
#   vpp      VPP, and contiv-init, which starts it
#
#   docker build --target vswitch -t contiv-vswitch .
#   docker build --target vpp -t contiv-vswitch-vpp .
#
# deploy/README.md has the reasons, the sizes, and the build for both architectures. Every step runs on the
# architecture of its image, and no step names one.
ARG NODE_IMAGE=node:24.21.0-bookworm-slim
# Of the distributions for which FD.io publishes VPP, Ubuntu is the one that it has for arm64, too.
ARG BASE_IMAGE=ubuntu:24.04
ARG VPP_VERSION=26.06-release

FROM ${NODE_IMAGE} AS packages
RUN apt-get update \
 && apt-get install -y --no-install-recommends binutils gcc libc6-dev \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/contiv-vswitch
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts

FROM packages AS build
COPY scripts scripts
COPY src src
COPY plugins plugins
COPY ui ui
COPY docs/errors.md docs/runbooks.md docs/status.md docs/troubleshooting.md docs/
RUN npm run build:programs && npm run build:ui && npm run build:cni
# Without the symbols for debuggers it is 18 MB smaller.
RUN strip -o dist/node /usr/local/bin/node

# What both images have: its layers are on a node once.
FROM ${BASE_IMAGE} AS runtime
# modprobe: the agent and contiv-init load modules of the host's kernel.
RUN apt-get update \
 && apt-get install -y --no-install-recommends kmod \
 && rm -rf /var/lib/apt/lists/* /var/cache/* /var/log/*
# Half of the container's memory limit, for every program: the rest is for buffers, native code and threads.
ENV NODE_ENV=production NODE_OPTIONS=--max-old-space-size-percentage=50
WORKDIR /opt/contiv-vswitch
COPY --from=build /opt/contiv-vswitch/dist/node /usr/local/bin/node
COPY LICENSE package.json ./
COPY --from=build /opt/contiv-vswitch/dist/node_modules dist/node_modules
COPY --from=build /opt/contiv-vswitch/dist/cmd/proto dist/cmd/proto

FROM runtime AS vswitch
COPY examples examples
COPY --from=build /opt/contiv-vswitch/dist/cmd/agent dist/cmd/agent
COPY --from=build /opt/contiv-vswitch/dist/ui dist/ui
COPY --from=build /opt/contiv-vswitch/dist/cmd/ksr dist/cmd/ksr
COPY --from=build /opt/contiv-vswitch/dist/cmd/stn dist/cmd/stn
COPY --from=build /opt/contiv-vswitch/dist/cmd/netctl dist/cmd/netctl
# For the host, which does not run it from here: see deploy/README.md.
COPY --from=build /opt/contiv-vswitch/dist/contiv-cni contiv-cni
# --help fills the compile cache.
RUN for program in agent ksr stn netctl; do \
      ln -s "$PWD/dist/cmd/$program/main.js" "/usr/bin/contiv-$program" \
      && "contiv-$program" --help >/dev/null || exit 1; \
    done \
 && ln -s contiv-netctl /usr/bin/netctl
ARG BUILD_DATE
ARG COMMIT_HASH
ENV BUILD_DATE=$BUILD_DATE COMMIT_HASH=$COMMIT_HASH
LABEL org.opencontainers.image.title="contiv-vswitch" \
      org.opencontainers.image.description="contiv-agent, contiv-ksr, contiv-stn, netctl and contiv-cni" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.created=$BUILD_DATE \
      org.opencontainers.image.revision=$COMMIT_HASH
EXPOSE 9999
# The agent is root with few capabilities: it enters the namespaces of pods. contiv-ksr, contiv-stn and netctl
# run as any user.
ENTRYPOINT ["/usr/bin/contiv-agent"]

# VPP without what neither the agent nor an operator uses: of its plugins those that the agent configures, DPDK
# for NICs, and ping; its crypto engines, without which WireGuard makes no session.
FROM runtime AS fdio
ARG VPP_VERSION
ADD --chmod=644 https://packagecloud.io/fdio/release/gpgkey /etc/apt/keyrings/fdio.asc
RUN . /etc/os-release \
 && apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates \
 && echo "deb [signed-by=/etc/apt/keyrings/fdio.asc] https://packagecloud.io/fdio/release/ubuntu $VERSION_CODENAME main" \
    >/etc/apt/sources.list.d/fdio.list \
 && apt-get update \
 && VPP_INSTALL_SKIP_SYSCTL=yes apt-get install -y --no-install-recommends \
    "libvppinfra=$VPP_VERSION" "vpp=$VPP_VERSION" "vpp-crypto-engines=$VPP_VERSION" "vpp-plugin-core=$VPP_VERSION" \
    "vpp-plugin-dpdk=$VPP_VERSION" \
 && find /usr/lib -path '*/vpp_plugins/*' ! -name acl_plugin.so ! -name af_packet_plugin.so \
    ! -name cnat_plugin.so ! -name dhcp_plugin.so ! -name dpdk_plugin.so ! -name flowprobe_plugin.so \
    ! -name memif_plugin.so ! -name nat_plugin.so ! -name ping_plugin.so ! -name policer_plugin.so \
    ! -name stn_plugin.so ! -name tap_plugin.so ! -name vxlan_plugin.so ! -name wireguard_plugin.so -delete \
 && rm -rf /usr/lib/*/vpp_api_test_plugins /usr/lib/*/vat2_plugins /usr/bin/vpp_api_test /usr/bin/vat2 \
    /usr/share/vpp /var/lib/apt/lists/* /var/cache/* /var/log/*

FROM fdio AS vpp
COPY --from=build /opt/contiv-vswitch/dist/cmd/init dist/cmd/init
RUN ln -s "$PWD/dist/cmd/init/main.js" /usr/bin/contiv-init \
 && contiv-init --help >/dev/null
ARG VPP_VERSION
ARG BUILD_DATE
ARG COMMIT_HASH
LABEL org.opencontainers.image.title="contiv-vswitch-vpp" \
      org.opencontainers.image.description="VPP $VPP_VERSION and contiv-init" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.created=$BUILD_DATE \
      org.opencontainers.image.revision=$COMMIT_HASH
# VPP is root: it opens the devices of NICs and TAPs, and locks its memory.
ENTRYPOINT ["/usr/bin/contiv-init"]
CMD ["--vpp-only"]
