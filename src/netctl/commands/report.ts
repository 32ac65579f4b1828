/** `netctl report`: a support bundle of each node, as an archive on this machine. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { systemRandom } from '#infra/clock/system.ts';
import type { ReportArchive } from '#infra/support-bundle/archive.ts';
import type { ClusterNode, Command, CommandContext } from '../command.ts';
import { failureRows, failuresOf } from '../failures.ts';
import { RequestError } from '../requests/request-failure.ts';

const PART_BYTES = 64 << 20;

export const report: Command = {
  name: 'report',
  summary: 'Save the state of nodes as one archive each, for support',
  arguments: [
    {
      name: 'node',
      description: 'nodes to ask; default: all',
      isOptional: true,
      isVariadic: true,
      completes: 'nodes',
    },
  ],
  options: [
    {
      name: 'folder',
      value: 'path',
      description: 'folder of the archives (default: this one)',
      completes: 'files',
    },
  ],
  examples: ['report', 'report node1 --folder /tmp'],
  run: async (context, { arguments: given, options }) => {
    const nodes = await context.nodes(given['node']);
    const { folder } = options;
    const replies = await context.askAll(nodes, (node) =>
      save(context, node, typeof folder === 'string' ? folder : '.'),
    );
    const saved = replies.flatMap(({ node, value }) => (value ? [{ node, ...value }] : []));
    context.output.list(
      {
        columns: [
          { title: 'NODE', whenNarrow: 'keep' },
          { title: 'PARTS', whenNarrow: 'keep' },
          { title: 'SIZE', isRightAligned: true, whenNarrow: 'keep' },
          { title: 'TIME', isRightAligned: true, whenNarrow: 'keep' },
          { title: 'ARCHIVE' },
        ],
        rows: [
          ...saved.map(({ node, path, bytes, seconds, parts }) => ({
            cells: [
              node.name,
              `${parts.filter(({ error }) => error === undefined).length} of ${parts.length}`,
              `${Math.ceil(bytes / 1024)} KiB`,
              `${seconds.toFixed(1)} s`,
              path,
            ],
          })),
          ...failureRows(replies),
        ],
      },
      {
        reports: saved.map(({ node, ...one }) => ({ node: node.name, ...one })),
        failures: failuresOf(replies),
      },
    );
    for (const { node, parts } of saved)
      for (const [error, files] of byError(parts))
        context.warn(`${node.name}: without ${files.length} parts (${files[0]} …): ${error}`);
    return context.explainFailures(replies);
  },
};

interface Part {
  readonly file: string;
  /** The route or command. */
  readonly source: string;
  readonly bytes: number;
  readonly truncated?: true;
  readonly error?: string;
}

interface SavedReport {
  readonly path: string;
  readonly bytes: number;
  readonly seconds: number;
  readonly parts: readonly Part[];
}

function byError(parts: readonly Part[]): Map<string, string[]> {
  const errors = new Map<string, string[]>();
  for (const { file, error } of parts)
    if (error !== undefined) errors.set(error, [...(errors.get(error) ?? []), file]);
  return errors;
}

/** @throws RequestError for a node that does not answer: nothing is left of its archive; ReportError */
async function save(
  context: CommandContext,
  node: ClusterNode,
  folder: string,
): Promise<SavedReport> {
  const { ReportArchive } = await import('#infra/support-bundle/archive.ts');
  const { clock } = context;
  const started = clock.monotonic();
  const now = new Date(clock.wallTime());
  const name = `contiv-report-${node.name}-${now.toISOString()}`.replaceAll(/[^\w.-]/g, '-');
  const path = join(folder, `${name}.tar.gz`);
  // The first request shows whether the node answers.
  const { ProbeDocument } = await import('#documents/probes.ts');
  await context.ask(node, 'liveness', ProbeDocument).catch((thrown: unknown) => {
    if (thrown instanceof RequestError && thrown.failure.status !== undefined) return;
    throw thrown;
  });
  const archive = await ReportArchive.create(path, now, systemRandom);
  try {
    const parts = await collect(context, node, archive);
    const head = { format: 1, created: now.toISOString(), node: node.name, collector: 'netctl' };
    await archive.finish('manifest.json', `${JSON.stringify({ ...head, parts }, undefined, 2)}\n`);
    const { size } = await stat(path);
    return { path, bytes: size, seconds: (clock.monotonic() - started) / 1_000, parts };
  } catch (error) {
    await archive.discard();
    throw error;
  }
}

/** A part that cannot be read does not keep the others out. */
async function collect(
  context: CommandContext,
  node: ClusterNode,
  archive: ReportArchive,
): Promise<readonly Part[]> {
  const { CommandOutput } = await import('#documents/original.ts');
  const { documents, commandFile, vppCommands } = await import('#infra/support-bundle/contents.ts');
  const { Secrets } = await import('#infra/support-bundle/secrets.ts');
  const { signal } = context;
  const secrets = new Secrets();
  const parts: Part[] = [];
  const add = async (file: string, source: string, body: Readable): Promise<void> => {
    signal.throwIfAborted();
    const options = { maxBytes: PART_BYTES, mask: secrets.mask(), signal };
    const { bytes, isTruncated, error } = await archive.add(file, body, options);
    signal.throwIfAborted();
    parts.push({
      file,
      source,
      bytes,
      ...(isTruncated && { truncated: true as const }),
      ...(error !== undefined && { error }),
    });
    context.progress(`${node.name}: ${parts.length} parts`);
  };
  for (const [file, route] of Object.entries(documents))
    await add(file, route, Readable.from(context.download(node, route.slice(1))));
  let refused: string | undefined;
  for (const command of vppCommands) {
    const file = commandFile(command);
    if (refused !== undefined) {
      parts.push({ file, source: command, bytes: 0, error: refused });
      continue;
    }
    try {
      const text = await context.post(
        node,
        'vpp/command',
        { vppclicommand: command },
        CommandOutput,
      );
      await add(file, command, Readable.from([Buffer.from(text)]));
    } catch (thrown) {
      signal.throwIfAborted();
      if (!(thrown instanceof RequestError)) throw thrown;
      const error = thrown.failure.text;
      parts.push({ file, source: command, bytes: 0, error });
      // Without the permission, or without the node, the other commands fail as well.
      if (thrown.failure.status === undefined || thrown.failure.status === 403) refused = error;
    }
  }
  return parts;
}
