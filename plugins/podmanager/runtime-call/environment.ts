/** The environment variables that the runtime sets. */
import { CniError } from './cni-error.ts';

/** VERSION needs no agent. */
export const commands = ['ADD', 'DEL', 'CHECK', 'GC', 'STATUS'] as const;

export type Command = (typeof commands)[number];

export interface Attachment {
  readonly containerId: string;
  readonly interfaceName: string;
  /** Path of the network namespace; empty when it is deleted already, which only DEL accepts. */
  readonly networkNamespace: string;
  /** `K=V;K=V` */
  readonly args: string;
}

export type Variables = Readonly<Record<string, string | undefined>>;

const isValid: Readonly<Record<string, (text: string) => boolean>> = {
  CNI_CONTAINERID: (text) => /^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/.test(text),
  // The limit of the kernel, in bytes.
  CNI_IFNAME: (text) => /^(?!\.{1,2}$)[^\s/:\p{Cc}]+$/u.test(text) && Buffer.byteLength(text) <= 15,
};

/** @throws CniError */
export function readCommand({ CNI_COMMAND: command = '' }: Variables): Command {
  if (!(commands as readonly string[]).includes(command))
    throw new CniError(
      'environment',
      command === '' ? 'CNI_COMMAND is not set' : `unknown CNI_COMMAND: ${command}`,
      `supported commands: ${commands.join(', ')}`,
    );
  return command as Command;
}

/** @throws CniError with all missing variables, or with the first invalid one */
export function readAttachment(command: Command, variables: Variables): Attachment {
  const needed = ['CNI_CONTAINERID', 'CNI_IFNAME', ...(command === 'DEL' ? [] : ['CNI_NETNS'])];
  const missing = needed.filter((name) => !variables[name]);
  if (missing.length > 0)
    throw new CniError('environment', `${command} requires ${missing.join(', ')}`);
  for (const [name, isGood] of Object.entries(isValid))
    if (!isGood(variables[name] ?? ''))
      throw new CniError('environment', `${name} is invalid: ${JSON.stringify(variables[name])}`);
  return {
    containerId: variables['CNI_CONTAINERID']!,
    interfaceName: variables['CNI_IFNAME']!,
    networkNamespace: variables['CNI_NETNS'] ?? '',
    args: variables['CNI_ARGS'] ?? '',
  };
}
