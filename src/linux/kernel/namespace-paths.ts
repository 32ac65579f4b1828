import { readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { namespaceIdentity } from './namespace-file.ts';

/** Folders in which `ip netns` and container runtimes mount namespaces. */
const mountFolders = ['/run/netns', '/run/docker/netns'];
const PROCESSES = '/proc';

/**
 * A path of each network namespace of this machine except the agent's own, as far as it is mounted in
 * one of the folders of container runtimes or a process runs in it.
 */
export async function namespacePaths(): Promise<readonly string[]> {
  const own = (await namespaceIdentity(undefined))!.inode;
  const byInode = new Map<number, string>();
  const add = (inode: number | undefined, path: string): void => {
    if (inode !== undefined && inode !== own && !byInode.has(inode)) byInode.set(inode, path);
  };
  for (const folder of mountFolders)
    for (const name of await filesOf(folder)) {
      const path = join(folder, name);
      add((await namespaceIdentity(path))?.inode, path);
    }
  // the lowest PID first: it is the most likely to be the process that keeps the sandbox alive
  const pids = (await filesOf(PROCESSES)).map(Number).filter(Number.isInteger);
  for (const pid of pids.sort((a, b) => a - b)) {
    const path = join(PROCESSES, String(pid), 'ns/net');
    add(await inodeOf(path), path);
  }
  return [...byInode.values()];
}

/** Sorted; none if the folder does not exist. */
async function filesOf(folder: string): Promise<readonly string[]> {
  return (await readdir(folder).catch(() => [])).sort();
}

/** The link of a process, such as `net:[4026531840]`; undefined if the process has ended. */
async function inodeOf(path: string): Promise<number | undefined> {
  const target = await readlink(path).catch(() => '');
  const [, inode] = /^net:\[(\d+)\]$/.exec(target) ?? [];
  return inode === undefined ? undefined : Number(inode);
}
