/**
 * VPP needs /dev/vhost-net for TAP interfaces. Where the kernel has no such device, a library that is
 * preloaded into VPP can replace it: the one that VPP_PRELOAD names, an installed one, or one
 * that is compiled from its source beside the repository.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { temporaryFolder } from './temporary-folder.ts';

const DEVICE = '/dev/vhost-net';
const INSTALLED = '/usr/local/lib/vhost-net.so';
const SOURCE = resolve(import.meta.dirname, '../../../shared/tools/vhost-net/vhost-net.c');

let found: { readonly library: string | undefined } | undefined;

/** Path of the stand-in that VPP must preload; undefined with the device, or without a stand-in. */
export function vhostNetLibrary(): string | undefined {
  found ??= { library: existsSync(DEVICE) ? undefined : findLibrary() };
  return found.library;
}

/** Whether a VPP that is started on this machine can create TAPs. */
export function hasVhostNet(): boolean {
  return existsSync(DEVICE) || vhostNetLibrary() !== undefined;
}

let list: string | undefined;

/**
 * Prefix of an agent's command with which it finds the device where only VPP has the stand-in: the
 * agent alone sees a list of the kernel's devices that contains it.
 */
export function withVhostNetListed(): readonly string[] {
  if (vhostNetLibrary() === undefined) return [];
  list ??= writeList();
  // slave: namespaces that are mounted later are visible to the agent, too
  const isolated = ['unshare', '--mount', '--propagation', 'slave', 'sh', '-c'];
  return [...isolated, `mount --bind ${list} /proc/misc && exec "$@"`, 'sh'];
}

function writeList(): string {
  const file = join(temporaryFolder('misc'), 'misc');
  writeFileSync(file, `${readFileSync('/proc/misc', 'utf8')}238 vhost-net\n`);
  return file;
}

function findLibrary(): string | undefined {
  const named = process.env['VPP_PRELOAD'];
  if (named !== undefined && named !== '') return named;
  return existsSync(INSTALLED) ? INSTALLED : compile();
}

function compile(): string | undefined {
  if (!existsSync(SOURCE)) return undefined;
  const library = join(temporaryFolder('vhost-net'), 'vhost-net.so');
  const options = ['-O2', '-shared', '-fPIC', '-o', library, SOURCE, '-ldl', '-lpthread'];
  return spawnSync('cc', options).status === 0 ? library : undefined;
}
