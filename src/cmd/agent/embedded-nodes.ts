/** The settings of the nodes of a simulated cluster. */
import { join } from 'node:path';
import { GATEWAY } from '#demonstration/outside.ts';
import { NIC } from '#demonstration/simulated-environment.ts';
import { userNodeFolder } from '#infra/process/user-folder.ts';
import { LABEL_FLAG } from '#infra/service-label/service-label.ts';
import type { AgentFlags } from './flags.ts';
import { readSettings, type Settings } from './settings.ts';

/** Names of nodes without `--microservice-label`: node-1, node-2 … */
const DEFAULT_PREFIX = 'node';

/** Unless http.conf names the cluster. */
const CLUSTER_NAME = 'demonstration';

/** Without a section for the node, VPP has the simulated NIC. */
function withNic({ contiv, label }: Settings): Settings['contiv'] {
  if (contiv.nodeConfig.some(({ nodeName }) => nodeName === label)) return contiv;
  const section = {
    nodeName: label,
    mainVPPInterface: { interfaceName: NIC, ip: '', useDHCP: false },
    otherVPPInterfaces: [],
    stealInterface: '',
    gateway: GATEWAY,
    natExternalTraffic: contiv.natExternalTraffic,
  };
  return { ...contiv, nodeConfig: [...contiv.nodeConfig, section] };
}

/** A folder of its own for each node: all are recorded by one process. */
function withRecording({ controller, label }: Settings): Settings['controller'] {
  const given = controller['record-run'];
  return { ...controller, 'record-run': given ? join(given, label) : ownRecordings(label) };
}

/** Of the last start, unless the configuration sets a folder. */
export function ownRecordings(label: string): string {
  return join(userNodeFolder(label), 'recordings');
}

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * One node has the settings that are given. Of several each has a name and a port of its own, which count up.
 * @throws ConfigError
 */
export function embeddedNodes(
  flags: AgentFlags,
  env: Variables,
): readonly [Settings, ...Settings[]] {
  const given = readSettings(flags, env);
  if (flags.nodes === 1) return [given];
  const prefix = flags.values[LABEL_FLAG] || env['MICROSERVICE_LABEL'] || DEFAULT_PREFIX;
  const port = Number(given.http.endpoint.slice(given.http.endpoint.lastIndexOf(':') + 1));
  const settingsOf = (index: number): Settings => {
    const values = {
      ...flags.values,
      [LABEL_FLAG]: `${prefix}-${index + 1}`,
      // 0 lets the kernel choose
      'http-port': String(port === 0 ? 0 : port + index),
    };
    const settings = readSettings({ ...flags, values }, env);
    return {
      ...settings,
      contiv: withNic(settings),
      controller: withRecording(settings),
      http: { ...settings.http, 'cluster-name': settings.http['cluster-name'] || CLUSTER_NAME },
      // one port
      grpc2: index === 0 ? settings.grpc2 : undefined,
    };
  };
  const others = Array.from({ length: flags.nodes - 1 }, (_, n) => settingsOf(n + 1));
  return [settingsOf(0), ...others];
}
