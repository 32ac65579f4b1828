/**
 * The command line of contiv-agent. As in the Go agent, each configuration file has a flag, and flags
 * may have one dash or two.
 */
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { twoDashes } from '#infra/config/go-flags.ts';
import { configFlag } from '#infra/config/load.ts';
import { LABEL_FLAG } from '#infra/service-label/service-label.ts';
import type { Protocol } from '#packet-trace/packet.ts';
import { type PolicyProtocol, policyProtocols } from '#plugins/policy/port-set.ts';
import {
  type ConnectivityOutput,
  type ConnectivityRequest,
  connectivityOutputs,
} from './connectivity-request.ts';
import type { TraceRequest } from './trace.ts';

/** Names of the configuration files; each gives a flag, a variable and a file name. */
export const configNames = [
  'contiv',
  'controller',
  'http',
  'logs',
  'grpc',
  'grpc2',
  'etcd',
  'bolt',
  'mirror',
  'govpp',
  'kvscheduler',
  'service',
  'flows',
  'plugins',
  'status-check',
  'kafka',
  'telemetry',
] as const;

/** Default REST endpoint of an agent on this machine. */
const LOCAL_AGENT = 'http://127.0.0.1:9999';

export interface AgentFlags {
  readonly configDir: string;
  /** Run on an embedded store, a simulated VPP and Linux, and a fake kubelet for the manifests. */
  readonly embedded: boolean;
  /** Number of simulated nodes with `embedded`, each with an agent. */
  readonly nodes: number;
  /** Folder of Kubernetes manifests for the embedded store; undefined: the examples. */
  readonly manifests: string | undefined;
  /** Instead of running, remove the configuration of the agent from this node. */
  readonly undeploy: boolean;
  /** Instead of running, print the effective configuration. */
  readonly printConfig: boolean;
  /** Instead of running, replay this recording: a file or a folder. */
  readonly replay: string | undefined;
  /** Whether the replay may load modules that the recording names. */
  readonly loadPlugins: boolean;
  /** Instead of running, write a support bundle to this path; empty: a name is made. */
  readonly report: string | undefined;
  /** Instead of running, trace a packet through the nodes of running agents. */
  readonly trace: TraceRequest | undefined;
  /** Instead of running, list the connections that network policies permit. */
  readonly connectivity: ConnectivityRequest | undefined;
  /** Values of the flags for configuration files and for the service label. */
  readonly values: Readonly<Record<string, string | undefined>>;
}

/**
 * @param argv arguments after the program's name
 * @throws CommanderError after its text is printed: for invalid arguments, and for --help
 */
export function parseFlags(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): AgentFlags {
  const configDir = env['CONFIG_DIR'] || '.';
  const command = new Command('contiv-agent')
    .description('Configures FD.io VPP and Linux for the pods of a Kubernetes node.')
    .option('--config-dir <dir>', 'folder with the configuration files', configDir)
    .option(`--${LABEL_FLAG} <name>`, 'name of this node (variable MICROSERVICE_LABEL)')
    .option('--http-port <port>', 'port of the REST server; overrides http.conf')
    .option('--embedded', 'run with an embedded store and simulated VPP and Linux', false)
    .option('--nodes <number>', 'for --embedded: number of simulated nodes', nodeCount, 1)
    .option(
      '--manifests <dir>',
      'Kubernetes manifests for --embedded (default: examples/shop) and for connectivity',
    )
    .option('--print-config', 'print each effective value with its origin, and exit', false)
    .option('--from <pod>', 'for trace and connectivity: source, as namespace/name')
    .option('--to <pod or address>', 'for trace and connectivity: destination')
    .option(
      '--port <port>',
      'for trace and connectivity: port of the destination, such as 80 or UDP/53',
      portOf,
    )
    .option('--source-port <number>', 'for trace: port of the source', portNumber)
    .option('--protocol <name>', 'for trace: tcp (default with --port), udp or icmp', protocolOf)
    .option('--agent <urls...>', 'for trace: REST servers of the agents', [LOCAL_AGENT])
    .option('--wanted', 'for trace: use the desired state instead of the actual state', false)
    .option(
      '--load-plugins',
      'for replay: load the plugin modules that a recording names, and run their code',
      false,
    )
    .option(
      '--compare <dir>',
      'for connectivity: manifests after a change, to list what it changes',
    )
    .addOption(
      new Option('--output <format>', 'for connectivity: format of the list')
        .choices(connectivityOutputs)
        .default('text'),
    )
    .showHelpAfterError('(--help lists all options)')
    .exitOverride()
    .addArgument(
      new Argument(
        '[command]',
        'undeploy: remove the configuration of the agent from this node, and exit; ' +
          'replay: replay recorded events; report: pack state, logs and configuration into an archive; ' +
          'trace: trace a packet from a pod; ' +
          'connectivity: list who may reach whom under the network policies of --manifests',
      ).choices(['undeploy', 'replay', 'report', 'trace', 'connectivity']),
    )
    .argument(
      '[path]',
      'for replay: a folder that record-run has written, one of its files, or an archive of report; ' +
        'for report: the archive to write (default: a name with node and time)',
    );
  for (const name of configNames)
    command.option(`--${configFlag(name)} <file>`, `configuration file; default: ${name}.conf`);
  command.parse(argv.map(twoDashes), { from: 'user' });
  const [action, path] = command.args;
  if (action === 'replay' && path === undefined)
    command.error('error: missing argument: recording');
  if (action !== 'replay' && action !== 'report' && path !== undefined)
    command.error(`error: unexpected argument: ${path}`);
  const options = command.opts<Record<string, unknown>>();
  const values: Record<string, string | undefined> = {};
  for (const option of command.options) {
    const value = options[option.attributeName()];
    if (typeof value === 'string') values[option.long!.slice(2)] = value;
  }
  return {
    configDir: values['config-dir'] || configDir,
    embedded: options['embedded'] === true,
    nodes: command.opts<{ nodes: number }>().nodes,
    manifests: values['manifests'],
    undeploy: action === 'undeploy',
    printConfig: options['printConfig'] === true,
    replay: action === 'replay' ? path : undefined,
    loadPlugins: options['loadPlugins'] === true,
    report: action === 'report' ? (path ?? '') : undefined,
    trace: action === 'trace' ? traceFlags(command) : undefined,
    connectivity: action === 'connectivity' ? connectivityFlags(command) : undefined,
    values,
  };
}

function traceFlags(command: Command): TraceRequest {
  const {
    from,
    to,
    port,
    sourcePort,
    protocol = port?.protocol,
    agent,
    wanted,
  } = command.opts<{
    from?: string;
    to?: string;
    port?: DestinationPort;
    sourcePort?: number;
    protocol?: Protocol;
    agent: string[];
    wanted: boolean;
  }>();
  if (!from || !to) command.error('error: trace needs --from and --to');
  if (protocol === 'SCTP') command.error('error: trace cannot trace SCTP');
  if (port === undefined && (protocol === 'TCP' || protocol === 'UDP'))
    command.error(`error: trace needs --port for ${protocol}`);
  return {
    from,
    to,
    protocol: protocol ?? (port === undefined ? undefined : 'TCP'),
    port: port?.number,
    sourcePort,
    agents: agent,
    desired: wanted,
  };
}

function connectivityFlags(command: Command): ConnectivityRequest {
  const { manifests, compare, output, from, to, port, protocol } = command.opts<{
    manifests?: string;
    compare?: string;
    output: ConnectivityOutput;
    from?: string;
    to?: string;
    port?: DestinationPort;
    protocol?: Protocol;
  }>();
  if (!manifests) command.error('error: connectivity needs --manifests');
  if ((from === undefined) !== (to === undefined))
    command.error('error: connectivity needs both --from and --to, or none of them');
  if (from === undefined || to === undefined) {
    if (port) command.error('error: connectivity needs --from and --to for --port');
    if (compare !== undefined && output === 'dot')
      command.error('error: --compare has no --output dot');
    return { manifests, compare, output, pair: undefined };
  }
  if (compare !== undefined) command.error('error: --compare lists all pairs, without --from');
  if (output === 'dot') command.error('error: --from and --to have no --output dot');
  if (protocol === 'ICMP') command.error('error: network policies do not mention ICMP');
  const asked = port && { protocol: port.protocol ?? protocol ?? 'TCP', port: port.number };
  return { manifests, compare, output, pair: { from, to, port: asked } };
}

interface DestinationPort {
  readonly protocol: PolicyProtocol | undefined;
  readonly number: number;
}

function portOf(text: string): DestinationPort {
  const parts = text.split('/');
  const number = portNumber(parts.at(-1) ?? '');
  if (parts.length === 1) return { protocol: undefined, number };
  const protocol = policyProtocols.find((one) => one === parts[0]?.toUpperCase());
  if (parts.length === 2 && protocol) return { protocol, number };
  throw new InvalidArgumentError('The port must be a number, or such as TCP/80.');
}

/** All nodes are in one process. */
const MOST_NODES = 9;

function nodeCount(text: string): number {
  const count = Number(text);
  if (/^\d$/.test(text) && count >= 1 && count <= MOST_NODES) return count;
  throw new InvalidArgumentError(`The number of nodes must be from 1 to ${MOST_NODES}.`);
}

function portNumber(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port >= 1 && port <= 65_535) return port;
  throw new InvalidArgumentError('The port must be a number from 1 to 65535.');
}

function protocolOf(text: string): Protocol {
  const names: readonly Protocol[] = ['TCP', 'UDP', 'ICMP'];
  const name = names.find((one) => one === text.toUpperCase());
  if (name) return name;
  throw new InvalidArgumentError('The protocol must be tcp, udp or icmp.');
}
