/** `netctl capture`: packets of a pod, or of a node, as VPP receives and sends them. */
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { defineError } from '#infra/errors/errors.ts';
import { parsePcap } from '#infra/pcap/pcap.ts';
import { filterProtocols, hostOf, matches, type PacketFilter } from '../capture/packet-filter.ts';
import {
  type ClusterNode,
  type Command,
  type CommandContext,
  type CommandInput,
  ExitCode,
} from '../command.ts';
import { askIfKnown, postRoute } from '../requests/missing.ts';

/** `netctl capture`: an option is missing or invalid, or no node has an interface of the pod. */
export const CaptureOptionError = defineError({
  name: 'CaptureOptionError',
  code: 'CV_NETCTL_CAPTURE',
  rejects: 'configuration',
  remedy: 'netctl capture --help has the options with examples.',
});

/** VPP writes its file at the end of a slice: shorter ones lose more packets between each other. */
const SLICE_MS = 1_000;
const DEFAULT_SECONDS = 30;
const DEFAULT_PACKETS = 100_000;
const DEFAULT_MIB = 100;
const MIB = 1024 * 1024;

interface Limits {
  readonly ms: number;
  readonly packets: number;
  readonly bytes: number;
}

interface Target {
  readonly node: ClusterNode;
  /** undefined: all interfaces of the node. */
  readonly swIfIndex: number | undefined;
}

export const capture: Command = {
  name: 'capture',
  summary: 'Capture the packets of a pod or node in VPP, in a file for Wireshark',
  arguments: [{ name: 'target', description: 'pod as namespace/name, or node', completes: 'pods' }],
  options: [
    {
      name: 'file',
      short: 'f',
      value: 'path',
      description: 'file to write; - for the standard output',
      completes: 'files',
    },
    { name: 'host', value: 'address', description: 'only packets from or to this address' },
    { name: 'on-port', value: 'number', description: 'only packets from or to this port' },
    {
      name: 'protocol',
      value: 'name',
      description: 'only packets of this protocol',
      choices: filterProtocols,
    },
    {
      name: 'seconds',
      value: 'number',
      description: `longest time (default: ${DEFAULT_SECONDS})`,
    },
    {
      name: 'packets',
      value: 'number',
      description: `most packets (default: ${DEFAULT_PACKETS})`,
    },
    { name: 'size', value: 'MiB', description: `largest file (default: ${DEFAULT_MIB})` },
  ],
  examples: [
    'capture shop/web -f web.pcap',
    'capture node1 -f node1.pcap --host 10.1.1.5 --protocol tcp',
    'capture shop/web -f - --seconds 600 | wireshark -k -i -',
  ],
  async run(context, input) {
    const path = input.options['file'];
    if (typeof path !== 'string') throw new CaptureOptionError('--file is missing');
    const filter = filterOf(input);
    const limits = limitsOf(input);
    const target = await targetOf(context, input.arguments['target']?.[0] ?? '');
    const sink = path === '-' ? standardOutput(context) : fileSink(path);
    try {
      return await captureSlices(context, target, filter, limits, sink);
    } finally {
      await sink.close();
    }
  },
};

interface Sink {
  write(bytes: Buffer): void;
  /** @throws the error of the file */
  close(): Promise<void>;
}

function standardOutput({ output }: CommandContext): Sink {
  return { write: (bytes) => output.bytes(bytes), close: async () => undefined };
}

function fileSink(path: string): Sink {
  const stream = createWriteStream(path);
  const ended = finished(stream);
  // It is reported by the end of the capture.
  ended.catch(() => undefined);
  return {
    write: (bytes) => void stream.write(bytes),
    async close() {
      stream.end();
      await ended;
    },
  };
}

async function captureSlices(
  context: CommandContext,
  { node, swIfIndex }: Target,
  filter: PacketFilter,
  limits: Limits,
  sink: Sink,
): Promise<ExitCode> {
  const { clock, signal } = context;
  const { CaptureSlice } = await import('#documents/capture.ts');
  const end = clock.now() + limits.ms;
  let [packets, bytes, full] = [0, 0, 0];
  const isDone = (): boolean =>
    clock.now() >= end || packets >= limits.packets || bytes >= limits.bytes || signal.aborted;
  while (!isDone()) {
    const milliseconds = Math.max(1, Math.min(SLICE_MS, Math.ceil(end - clock.now())));
    const slice = await postRoute(
      context,
      node,
      'vpp/capture',
      { milliseconds, ...(swIfIndex !== undefined && { swIfIndex }) },
      CaptureSlice,
    ).catch((thrown: unknown) => {
      // The user ends it so.
      if (signal.aborted) return undefined;
      throw thrown;
    });
    if (slice === undefined) break;
    full += Number(slice.isFull);
    const { header, records } = parsePcap(Buffer.from(slice.pcap, 'base64'));
    const wanted = records.filter(({ packet }) => matches(packet, filter));
    for (const record of wanted) {
      if (packets >= limits.packets || bytes + record.bytes.length > limits.bytes) break;
      if (bytes === 0) sink.write(header);
      bytes += (bytes === 0 ? header.length : 0) + record.bytes.length;
      packets++;
      sink.write(record.bytes);
    }
    context.progress(`${packets} packets, ${Math.ceil(bytes / 1024)} KiB`);
  }
  context.progress('');
  context.warn(`${packets} packets from ${node.name}.`);
  if (full > 0)
    context.warn(
      `  Packets are missing: in ${full} slices of a second VPP had more than it keeps. Capture a pod instead of a node.`,
    );
  return ExitCode.Success;
}

async function targetOf(context: CommandContext, name: string): Promise<Target> {
  if (!name.includes('/')) {
    const [node] = await context.nodes([name]);
    return { node: node!, swIfIndex: undefined };
  }
  const { PodDocument } = await import('#documents/pods.ts');
  const path = `contiv/v1/pods/${name.split('/').map(encodeURIComponent).join('/')}`;
  const replies = await context.askAll(await context.nodes(), (node) =>
    askIfKnown(context, node, path, PodDocument),
  );
  for (const { node, value } of replies)
    for (const { interfaces } of value?.attachments ?? []) {
      const swIfIndex = interfaces?.vpp.swIfIndex ?? undefined;
      if (swIfIndex !== undefined) return { node, swIfIndex };
    }
  context.explainFailures(replies);
  throw new CaptureOptionError('no node that answered has an interface of this pod', {
    where: name,
  });
}

function filterOf({ options }: CommandInput): PacketFilter {
  const { host, protocol } = options;
  const address = typeof host === 'string' ? hostOf(host) : undefined;
  if (host !== undefined && address === undefined)
    throw new CaptureOptionError(`--host ${String(host)} is no IP address`);
  const known = filterProtocols.find((one) => one === protocol);
  const port =
    options['on-port'] === undefined ? undefined : numberOf(options, 'on-port', 0, 65_535);
  return { host: address, port, protocol: known };
}

function limitsOf({ options }: CommandInput): Limits {
  return {
    ms: numberOf(options, 'seconds', DEFAULT_SECONDS, 86_400) * 1000,
    packets: numberOf(options, 'packets', DEFAULT_PACKETS, 100_000_000),
    bytes: numberOf(options, 'size', DEFAULT_MIB, 100_000) * MIB,
  };
}

function numberOf(
  options: CommandInput['options'],
  name: string,
  unset: number,
  largest: number,
): number {
  const text = options[name];
  if (text === undefined) return unset;
  const value = /^\d{1,9}$/.test(String(text)) ? Number(text) : 0;
  if (value >= 1 && value <= largest) return value;
  throw new CaptureOptionError(`--${name} has to be a number from 1 to ${largest}`);
}
