/** Hash of a folder on disk, committed or not, as `git rev-parse HEAD:<folder>` of the same content. */
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

export function gitTreeHash(folder: string): string {
  const entries = readdirSync(folder, { withFileTypes: true })
    .map((entry) => {
      const path = join(folder, entry.name);
      const isFolder = entry.isDirectory();
      return {
        // Git sorts a folder as if its name ended with a slash.
        order: Buffer.from(entry.name + (isFolder ? '/' : '')),
        name: entry.name,
        mode: isFolder ? '40000' : modeOf(path),
        hash: isFolder ? gitTreeHash(path) : blobHash(path),
      };
    })
    .sort((a, b) => a.order.compare(b.order));
  const body = entries.flatMap(({ mode, name, hash }) => [
    Buffer.from(`${mode} ${name}\0`),
    Buffer.from(hash, 'hex'),
  ]);
  return objectHash('tree', Buffer.concat(body));
}

function modeOf(path: string): string {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) return '120000';
  return stat.mode & 0o100 ? '100755' : '100644';
}

function blobHash(path: string): string {
  const content = lstatSync(path).isSymbolicLink()
    ? Buffer.from(readlinkSync(path))
    : readFileSync(path);
  return objectHash('blob', content);
}

function objectHash(type: 'blob' | 'tree', body: Buffer): string {
  return createHash('sha1').update(`${type} ${body.length}\0`).update(body).digest('hex');
}
