/** The supported versions of the CNI specification, oldest first. */
import { CniError } from './cni-error.ts';

export const versions = ['0.1.0', '0.2.0', '0.3.0', '0.3.1', '0.4.0', '1.0.0', '1.1.0'] as const;

export type Version = (typeof versions)[number];

export const NEWEST: Version = '1.1.0';

/** The version that introduced a command. */
export const commandVersions: Readonly<Partial<Record<string, Version>>> = {
  CHECK: '0.4.0',
  GC: '1.1.0',
  STATUS: '1.1.0',
};

export function isSupported(version: string): version is Version {
  return (versions as readonly string[]).includes(version);
}

/** Whether a version is equal to another or newer. */
export function isSince(version: Version, other: Version): boolean {
  return versions.indexOf(version) >= versions.indexOf(other);
}

/** @throws CniError for an unsupported version, and for a version without the command */
export function supportedVersion(text: string, command: string): Version {
  if (!isSupported(text))
    throw new CniError(
      'version',
      `unsupported CNI version ${JSON.stringify(text)}`,
      `supported versions: ${versions.join(', ')}`,
    );
  const first = commandVersions[command];
  if (first && !isSince(text, first))
    throw new CniError(
      'version',
      `CNI version ${text} has no ${command}: it was introduced in ${first}`,
    );
  return text;
}
