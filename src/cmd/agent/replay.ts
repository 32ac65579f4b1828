/** `contiv-agent replay`: replays recorded events and compares the transactions. */

import { Type } from 'typebox';
import Value from 'typebox/value';
import { rfc3339 } from '#infra/clock/rfc3339.ts';
import { defineError } from '#infra/errors/errors.ts';
import { mergeValues } from '#models/merge.ts';
import type { DesiredValues } from '#plugins/controller/api/desired-values.ts';
import { NotRecordedError, RecordingError } from '#plugins/controller/recording/errors.ts';
import type { HeaderLine } from '#plugins/controller/recording/recording-format.ts';
import { readRecording, recordingFiles } from '#plugins/controller/recording/recording-reader.ts';
import {
  type ReplayDeps,
  type ReplayReport,
  replayRecording,
} from '#plugins/controller/recording/replay.ts';
import type { Difference } from '#plugins/controller/recording/replay-comparison.ts';
// Replayed errors get their traits from their classes, so these have to be loaded.
import '#linux/api.ts';
import '#vpp/binapi/api.ts';
import { contivConfigSchema } from '#plugins/contivconf/config.ts';
import { serviceDefaults, serviceSchema } from '#plugins/service/config.ts';
import { type PluginsConfig, pluginsSchema } from './plugin-modules/config.ts';
import { loadPluginModules } from './plugin-modules/load.ts';
import type { PluginModule } from './plugin-modules/plugin-host.ts';
import { createPlugins, type PluginSettings, type Ports } from './plugins.ts';
import { withRecordings } from './report/archived-recordings.ts';

/** A recording names plugin modules, whose code a replay runs only with `--load-plugins`: others may have chosen the paths. */
export const RecordedPluginsError = defineError({
  name: 'RecordedPluginsError',
  code: 'CV_REPLAY_PLUGINS',
  rejects: 'configuration',
  remedy:
    'If you trust the recording and these files of this machine, replay it with --load-plugins: their code runs with your rights.',
});

/** Differences of one event that are printed. */
const SHOWN = 10;
const SHOWN_CHARACTERS = 500;

/**
 * @param path folder of recorded runs, one of its files, or the archive of a report
 * @param loadsPlugins whether modules that a recording names may be loaded
 * @returns whether all transactions are equal
 * @throws RecordingError, RecordedPluginsError
 */
export async function replay(
  path: string,
  print: (text: string) => void,
  loadsPlugins = false,
): Promise<boolean> {
  return await withRecordings(path, (found) => replayFiles(found, print, loadsPlugins));
}

async function replayFiles(
  path: string,
  print: (text: string) => void,
  loadsPlugins: boolean,
): Promise<boolean> {
  let isSame = true;
  for (const file of await recordingFiles(path)) {
    const run = await readRecording(file);
    const { version, label, at } = run.header;
    print(`${file}: contiv-agent ${version} on ${label}, started ${rfc3339(at)}\n`);
    const { plugins } = recordedSettings(run.header.settings);
    if (plugins.modules.length > 0 && !loadsPlugins) {
      const paths = plugins.modules.map((module) => module.path).join(', ');
      throw new RecordedPluginsError(`it names plugin modules: ${paths}`, { where: file });
    }
    const modules = await loadPluginModules(plugins);
    const report = await replayRecording(run, (header, desired) =>
      replayedParts(header, desired, modules),
    );
    print(reportText(report));
    isSame &&= report.differences.length === 0;
  }
  return isSame;
}

/** The handlers of an agent, created with the recorded configuration. */
export function replayedParts(
  { label, settings }: HeaderLine,
  desired: DesiredValues,
  modules: readonly PluginModule[] = [],
): ReplayDeps {
  const ports = portsOf(desired);
  const { handlers } = createPlugins(label, recordedSettings(settings), ports, { modules });
  return { handlers, merge: mergeValues };
}

interface RecordedSettings extends PluginSettings {
  readonly plugins: PluginsConfig;
}

/** As in the header of a recording. */
const recordedSchema = Type.Object({
  contiv: contivConfigSchema,
  // agents without services have recorded none
  service: Type.Optional(serviceSchema),
  // and earlier ones no endpoints
  etcdEndpoints: Type.Optional(Type.Array(Type.String())),
  // and earlier ones no flows of memifs
  recordsFlows: Type.Optional(Type.Boolean()),
  plugins: Type.Optional(pluginsSchema),
});

/** @throws RecordingError */
function recordedSettings(settings: HeaderLine['settings']): RecordedSettings {
  if (!Value.Check(recordedSchema, settings)) {
    const [first] = Value.Errors(recordedSchema, settings);
    throw new RecordingError(
      `the recorded settings are invalid: ${first?.instancePath} ${first?.message}`,
    );
  }
  const { contiv, service = serviceDefaults, etcdEndpoints, recordsFlows } = settings;
  const { plugins = { modules: [] } } = settings;
  return { contiv, service, etcdEndpoints, recordsFlows, plugins };
}

/** Ports that throw when they are used: a replay takes all answers from the recording. */
function portsOf(desired: DesiredValues): Ports {
  return new Proxy({} as Ports, {
    get: (_ports, name) => (name === 'desired' ? desired : unreachable(String(name))),
  });
}

function unreachable(port: string): object {
  return new Proxy(
    {},
    {
      get: (_port, call) => () => {
        throw new NotRecordedError('was used without the context of the handler', {
          where: `port ${port}.${String(call)}`,
        });
      },
    },
  );
}

function reportText({ events, transactions, differences, ending }: ReplayReport): string {
  const lines = [`  replayed: ${events} events, ${transactions} transactions`];
  if (ending !== undefined) lines.push(`  the recording ends early: ${ending}`);
  const [first] = differences;
  if (!first) lines.push('  all transactions are equal');
  else {
    lines.push(`  first difference: event #${first.event.n} ${first.event.name}`);
    lines.push(...differences.slice(0, SHOWN).flatMap(differenceLines));
    if (differences.length > SHOWN)
      lines.push(`    and ${differences.length - SHOWN} more in this event`);
  }
  return `${lines.join('\n')}\n`;
}

function differenceLines({ what, handler, key, field, recorded, replayed }: Difference): string[] {
  const place = [
    what,
    ...(handler === undefined ? [] : [`of ${handler}`]),
    ...(key === undefined ? [] : [`key ${key}`]),
    ...(field === '' ? [] : [`field ${field}`]),
  ];
  return [
    `    ${place.join(', ')}`,
    `      recorded: ${shown(recorded)}`,
    `      replayed: ${shown(replayed)}`,
  ];
}

function shown(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length <= SHOWN_CHARACTERS ? text : `${text.slice(0, SHOWN_CHARACTERS)}…`;
}
