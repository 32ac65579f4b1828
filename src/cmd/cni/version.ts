/** The versions of the CNI specification that are spoken, oldest first. */
import { CniError } from './cni-error.ts';

export const versions = ['0.3.1', '0.4.0', '1.0.0', '1.1.0'] as const;

export type Version = (typeof versions)[number];

export const NEWEST: Version = '1.1.0';

/** The command is there from this version on. */
export const commandVersions: Readonly<Partial<Record<string, Version>>> = {
  CHECK: '0.4.0',
  GC: '1.1.0',
  STATUS: '1.1.0',
};

export function isSupported(version: string): version is Version {
  return (versions as readonly string[]).includes(version);
}

/** Whether a version is another one or came after it. */
export function isSince(version: Version, other: Version): boolean {
  return versions.indexOf(version) >= versions.indexOf(other);
}

/** @throws Failure for a version that is not spoken, or that has no such command */
export function supportedVersion(text: string, command: string): Version {
  if (!isSupported(text))
    throw new CniError(
      'version',
      `CNI version ${JSON.stringify(text)} is not spoken`,
      `spoken are ${versions.join(', ')}`,
    );
  const first = commandVersions[command];
  if (first && !isSince(text, first))
    throw new CniError('version', `CNI version ${text} has no ${command}, it came with ${first}`);
  return text;
}
