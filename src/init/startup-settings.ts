/** The settings of a startup configuration of VPP that contiv-init depends on. */
import { join } from 'node:path';
import { StartupConfigError } from './errors.ts';

export interface StartupSettings {
  /** Unix socket of the binary API. */
  readonly apiSocket: string;
}

/** The default of a VPP that runs as root. */
const RUNTIME_FOLDER = '/run/vpp';

/** Each of them keeps VPP in the foreground. */
const foregroundWords = ['nodaemon', 'interactive', 'nosyslog'];

/**
 * @param text content of the file
 * @throws StartupConfigError when VPP would leave the foreground, where it cannot be watched
 */
export function startupSettings(text: string, file: string): StartupSettings {
  const sections = parseSections(text, file);
  const unix = sections.get('unix') ?? [];
  if (!foregroundWords.some((word) => unix.includes(word)))
    throw new StartupConfigError('unix { nodaemon } is missing: VPP would detach', { where: file });
  const folder = wordAfter(unix, 'runtime-dir') ?? RUNTIME_FOLDER;
  const socket = wordAfter(sections.get('socksvr') ?? [], 'socket-name');
  return { apiSocket: socket ?? join(folder, 'api.sock') };
}

/** Words of the sections by name, also those of nested sections. A section may be there twice. */
function parseSections(text: string, file: string): ReadonlyMap<string, readonly string[]> {
  const tokens = text.replaceAll(/#[^\r\n]*/g, ' ').match(/[{}]|[^\s{}]+/g) ?? [];
  const sections = new Map<string, string[]>();
  let name = '';
  let depth = 0;
  for (const token of tokens) {
    if (token === '{') depth++;
    else if (token === '}') depth--;
    else if (depth === 0) name = token;
    else sections.set(name, [...(sections.get(name) ?? []), token]);
    if (depth < 0) break;
  }
  if (depth !== 0)
    throw new StartupConfigError(`a brace is ${depth > 0 ? 'not closed' : 'closed twice'}`, {
      where: file,
    });
  return sections;
}

/** The last one takes effect. */
function wordAfter(words: readonly string[], key: string): string | undefined {
  const at = words.lastIndexOf(key);
  return at < 0 ? undefined : words[at + 1];
}
