/** Reads support bundles in tests. */
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { unpackTar } from 'modern-tar';

interface Part {
  readonly file: string;
  readonly source: string;
  readonly bytes: number;
  readonly truncated?: true;
  readonly error?: string;
}

export interface Manifest {
  readonly format: number;
  readonly node: string;
  readonly parts: readonly Part[];
}

export interface Bundle {
  /** Texts of the files by name. */
  readonly files: ReadonlyMap<string, string>;
  readonly manifest: Manifest;
  /** Files that are not complete, with the reason. */
  readonly errors: Readonly<Record<string, string>>;
}

export async function readBundle(path: string): Promise<Bundle> {
  const bytes = createReadStream(path).compose(createGunzip());
  const entries = await unpackTar(Readable.toWeb(bytes) as ReadableStream<Uint8Array>, {
    strict: true,
  });
  const files = new Map(
    entries.map(({ header, data }) => [header.name, Buffer.from(data ?? []).toString()]),
  );
  const manifest: Manifest = JSON.parse(files.get('manifest.json') ?? '');
  const errors = Object.fromEntries(
    manifest.parts.flatMap(({ file, error }) => (error === undefined ? [] : [[file, error]])),
  );
  return { files, manifest, errors };
}
