{{- define "contiv.labels" -}}
k8s-app: {{ .name }}
app.kubernetes.io/name: {{ .name }}
app.kubernetes.io/part-of: contiv-vswitch
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
{{- end }}

{{- define "contiv.agentImage" -}}
{{ .Values.image.agent.repository }}:{{ .Values.image.agent.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "contiv.vppImage" -}}
{{ .Values.image.vpp.repository }}:{{ .Values.image.vpp.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "contiv.pullSecrets" -}}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end }}

{{- /* Whether IPv6 is the primary family, that of the addresses of nodes and pods in Kubernetes. */ -}}
{{- define "contiv.isIPv6" -}}
{{- $ipam := .Values.agent.config.contiv.ipamConfig | default dict }}
{{- if contains ":" (coalesce $ipam.contivCIDR $ipam.podSubnetCIDR "" | splitList "," | first) }}true{{ end }}
{{- end }}

{{- define "contiv.anyAddress" -}}
{{ if include "contiv.isIPv6" . }}[::]{{ else }}0.0.0.0{{ end }}
{{- end }}

{{- define "contiv.etcdTlsSecret" -}}
{{ .Values.etcd.tls.secretName | default "contiv-etcd-tls" }}
{{- end }}

{{- /* etcd.conf; the endpoint with the address of the own node is in ETCD_ENDPOINTS. */ -}}
{{- define "contiv.etcdConf" -}}
{{- $keys := deepCopy (.keys | default dict) }}
{{- $etcd := .root.Values.etcd }}
{{- if $etcd.tls.enabled }}
{{- $folder := "/etc/contiv-etcd-tls" }}
{{- $_ := set $keys "ca-file" (printf "%s/caCert" $folder) }}
{{- $_ := set $keys "cert-file" (printf "%s/clientCert" $folder) }}
{{- $_ := set $keys "key-file" (printf "%s/clientKey" $folder) }}
{{- else }}
{{- $_ := set $keys "insecure-transport" true }}
{{- end }}
{{- if not $etcd.enabled }}
{{- if not $etcd.endpoints }}
{{- fail "etcd.endpoints: name the etcd to use, or set etcd.enabled" }}
{{- end }}
{{- $_ := set $keys "endpoints" $etcd.endpoints }}
{{- else if $etcd.address }}
{{- $_ := set $keys "endpoints" (list (include "contiv.etcdEndpoint" .root)) }}
{{- end }}
{{- toYaml $keys }}
{{- end }}

{{- define "contiv.etcdEndpoint" -}}
{{- $address := .Values.etcd.address }}
{{- if contains ":" $address }}[{{ $address }}]{{ else }}{{ $address }}{{ end }}:12379
{{- end }}

{{- /* Variables of every container that connects to etcd. */ -}}
{{- define "contiv.etcdEnv" -}}
- name: HOST_IP
  valueFrom: { fieldRef: { fieldPath: status.hostIP } }
{{- if and .Values.etcd.enabled (not .Values.etcd.address) }}
- name: ETCD_ENDPOINTS
  value: {{ if include "contiv.isIPv6" . }}"[$(HOST_IP)]:{{ .Values.etcd.nodePort }}"{{ else }}$(HOST_IP):{{ .Values.etcd.nodePort }}{{ end }}
{{- end }}
{{- end }}

{{- /* etcd.conf of the agents: the proxies are before etcd, if there are any. */ -}}
{{- define "contiv.agentEtcdConf" -}}
{{- $conf := include "contiv.etcdConf" . | fromYaml }}
{{- if .root.Values.etcd.proxies }}
{{- $_ := unset $conf "endpoints" }}
{{- with .root.Values.etcd.proxyEndpoints }}
{{- $_ := set $conf "endpoints" . }}
{{- end }}
{{- end }}
{{- toYaml $conf }}
{{- end }}

{{- /* Node port of the proxies. */ -}}
{{- define "contiv.etcdProxyPort" -}}
{{ add1 .Values.etcd.nodePort }}
{{- end }}

{{- /* The etcd before which the proxies are. */ -}}
{{- define "contiv.etcdProxyTarget" -}}
{{- if not .Values.etcd.enabled }}{{ join "," .Values.etcd.endpoints }}
{{- else if .Values.etcd.address }}{{ include "contiv.etcdEndpoint" . }}
{{- else }}$(ETCD_ENDPOINTS){{ end }}
{{- end }}

{{- define "contiv.agentEtcdEnv" -}}
{{- if and .Values.etcd.proxies (not .Values.etcd.proxyEndpoints) }}
- name: HOST_IP
  valueFrom: { fieldRef: { fieldPath: status.hostIP } }
- name: ETCD_ENDPOINTS
  value: {{ if include "contiv.isIPv6" . }}"[$(HOST_IP)]:{{ include "contiv.etcdProxyPort" . }}"{{ else }}$(HOST_IP):{{ include "contiv.etcdProxyPort" . }}{{ end }}
{{- else }}
{{- include "contiv.etcdEnv" . }}
{{- end }}
{{- end }}

{{- define "contiv.etcdTlsMount" -}}
{{- if .Values.etcd.tls.enabled }}
- { name: etcd-tls, mountPath: /etc/contiv-etcd-tls, readOnly: true }
{{- end }}
{{- end }}

{{- /* The keys of the clients alone. */ -}}
{{- define "contiv.etcdTlsVolume" -}}
{{- if .Values.etcd.tls.enabled }}
- name: etcd-tls
  secret:
    secretName: {{ include "contiv.etcdTlsSecret" . }}
    defaultMode: 0440
    items:
      - { key: caCert, path: caCert }
      - { key: clientCert, path: clientCert }
      - { key: clientKey, path: clientKey }
{{- end }}
{{- end }}

{{- /* ConfigMap data: each file that has keys, except etcd.conf and http.conf. */ -}}
{{- define "contiv.files" -}}
{{- range $name, $keys := . }}
{{- if and $keys (not (has $name (list "etcd" "http"))) }}
{{ $name }}.conf: |
  {{- toYaml $keys | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}

{{- /* http.conf of a program. */ -}}
{{- define "contiv.httpConf" -}}
{{- $keys := deepCopy (.keys | default dict) }}
{{- if and (include "contiv.isIPv6" .root) (not (hasKey $keys "endpoint")) }}
{{- $_ := set $keys "endpoint" (printf "[::]:%d" .port) }}
{{- end }}
{{- if .tls }}
{{- $_ := set $keys "server-cert-file" "/etc/contiv-http-tls/tls.crt" }}
{{- $_ := set $keys "server-key-file" "/etc/contiv-http-tls/tls.key" }}
{{- end }}
{{- if $keys }}{{ toYaml $keys }}{{ end }}
{{- end }}

{{- define "contiv.agentHttpConf" -}}
{{- include "contiv.httpConf" (dict "root" . "keys" .Values.agent.config.http "port" 9999 "tls" .Values.agent.tlsSecretName) }}
{{- end }}

{{- define "contiv.ksrHttpConf" -}}
{{- include "contiv.httpConf" (dict "root" . "keys" .Values.ksr.config.http "port" 9191 "tls" "") }}
{{- end }}

{{- /* A volume with the configuration files: the ConfigMap, and the Secret with http.conf. */ -}}
{{- define "contiv.configVolume" -}}
projected:
  defaultMode: 0440
  sources:
    - configMap: { name: {{ .name }}-cfg }
    {{- if .http }}
    - secret: { name: {{ .name }}-http }
    {{- end }}
{{- end }}

{{- /* Restarts pods when their files change; not those of a DaemonSet with OnDelete. */ -}}
{{- define "contiv.checksum" -}}
contiv/config-checksum: {{ . | toJson | sha256sum | trunc 16 | quote }}
{{- end }}

{{- /* With useExternalIPAM the reference plugin host-local allocates from the pod subnet of the node. */ -}}
{{- define "contiv.conflist" -}}
{{- $list := .Files.Get "files/10-contiv-vpp.conflist" | fromJson }}
{{- if dig "ipamConfig" "useExternalIPAM" false .Values.agent.config.contiv }}
{{- $_ := set (first $list.plugins) "ipam" (dict "type" "host-local" "subnet" "usePodCidr") }}
{{- end }}
{{- $list | toPrettyJson }}
{{- end }}

{{- /*
NET_ADMIN and SYS_ADMIN connect pods by TAPs: test/deploy/capabilities.test.ts. In addition, VPP opens AF_PACKET
sockets for links of the host (NET_RAW), and locks huge pages (IPC_LOCK). The agent reads the statistics segment among
VPP's open files, which the kernel shows to a process with the same capabilities or with SYS_PTRACE.
*/ -}}
{{- define "contiv.agentCapabilities" -}}
NET_ADMIN, SYS_ADMIN, SYS_PTRACE{{ range .Values.agent.moreCapabilities }}, {{ . }}{{ end }}
{{- end }}
{{- define "contiv.vppCapabilities" -}}
IPC_LOCK, NET_ADMIN, NET_RAW, SYS_ADMIN
{{- end }}

{{- /*
Probes of a program with a REST server. While it starts, for example opens a large database on a slow disk, only the
startup probe asks: at most five minutes. Liveness is lost when the program says so, or is silent, for a minute: on a
busy machine an answer may take seconds, and a restart would make it busier.
*/ -}}
{{- define "contiv.probes" -}}
{{- $target := printf "host: 127.0.0.1, port: %d, scheme: %s" .port (.scheme | default "HTTP") -}}
startupProbe:
  httpGet: { path: /liveness, {{ $target }} }
  periodSeconds: 3
  timeoutSeconds: 10
  failureThreshold: 100
readinessProbe:
  httpGet: { path: /readiness, {{ $target }} }
  periodSeconds: 3
  timeoutSeconds: 5
  failureThreshold: 3
livenessProbe:
  httpGet: { path: /liveness, {{ $target }} }
  periodSeconds: 10
  timeoutSeconds: 15
  failureThreshold: 6
{{- end }}
