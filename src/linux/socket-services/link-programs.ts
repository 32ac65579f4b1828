import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { defineError } from '#infra/errors/errors.ts';
import { BpfLink } from '../bpf/link.ts';
import { BpfProgram, packetHook } from '../bpf/program.ts';
import { Refusal } from '../netlink/refusal.ts';
import { linkProgram } from './link-program.ts';
import type { MapFiles } from './programs.ts';

export const ServiceLinksUnavailableError = defineError({
  name: 'ServiceLinksUnavailableError',
  code: 'CV_SERVICE_LINKS_UNAVAILABLE',
  isRetriable: false,
  unavailable: 'environment',
  remedy:
    'Clients outside reach node ports at the addresses of VPP. To be served at a NIC of the host, too, without kube-proxy, the node needs Linux 6.6 or later.',
});

/** Places where the program for packets runs, kept by the index of the link of the host. */
export class LinkPrograms {
  readonly #folder: string;
  readonly #maps: MapFiles;
  /** Loaded when it is needed first: kernels may lack what it calls. */
  #program: BpfProgram | undefined;

  /** @param folder in a bpf file system, for these alone */
  constructor(folder: string, maps: MapFiles) {
    this.#folder = folder;
    this.#maps = maps;
  }

  /** A program that runs there continues. @throws Refusal, ServiceLinksUnavailableError */
  attach(index: number): void {
    if (isAttached(this.#path(index))) return;
    rmSync(this.#path(index), { force: true });
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const link = this.#create(index);
    try {
      link.pin(this.#path(index));
    } finally {
      link.close();
    }
  }

  detach(index: number): void {
    detach(this.#path(index));
  }

  /** Indexes of the links of the host where a program runs. */
  attached(): readonly number[] {
    return keptIn(this.#folder)
      .filter(isAttached)
      .map((path) => Number(path.slice(this.#folder.length + 1)));
  }

  /** Each packet meets the program of the release before or this one. */
  replaceAll(): void {
    for (const path of keptIn(this.#folder)) {
      const link = BpfLink.open(path);
      try {
        if (link.index === 0) rmSync(path);
        else link.replace(this.#loaded());
      } finally {
        link.close();
      }
    }
  }

  #path(index: number): string {
    return join(this.#folder, String(index));
  }

  #create(index: number): BpfLink {
    try {
      return BpfLink.create(this.#loaded(), index, packetHook);
    } catch (cause) {
      if (!(cause instanceof Refusal) || cause.errno !== 'EINVAL') throw cause;
      throw new ServiceLinksUnavailableError('the kernel runs no programs at links of the host', {
        cause,
      });
    }
  }

  #loaded(): BpfProgram {
    this.#program ??= BpfProgram.load('cv_packet', packetHook, linkProgram(this.#maps));
    return this.#program;
  }
}

/** Ends all of them. */
export function detachAllLinks(folder: string): void {
  for (const path of keptIn(folder)) detach(path);
}

function keptIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
}

function isAttached(path: string): boolean {
  if (!existsSync(path)) return false;
  const link = BpfLink.open(path);
  try {
    return link.index !== 0;
  } finally {
    link.close();
  }
}

/** Without its file the kernel ends the program some time later. */
function detach(path: string): void {
  if (!existsSync(path)) return;
  const link = BpfLink.open(path);
  try {
    if (link.index !== 0) link.detach();
  } finally {
    link.close();
  }
  rmSync(path);
}
