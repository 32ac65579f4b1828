/** Programs in the built images, as a container of the deployment runs them. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Background } from '../../integration/support/background.ts';
import { chrootCommand } from './chroot.ts';
import type { Image } from './image-build.ts';
import type { Overlays } from './overlay.ts';

export interface ContainerOptions {
  readonly image: Image;
  /** Folders of the host by their paths in the container, which lead through no link; the rest is read-only. */
  readonly volumes: Readonly<Record<string, string>>;
  readonly overlays: Overlays;
}

export class Container {
  readonly #image: Image;
  readonly #root: string;
  readonly #mounts: readonly string[];

  private constructor(image: Image, root: string, mounts: readonly string[]) {
    this.#image = image;
    this.#root = root;
    this.#mounts = mounts;
  }

  /** Its root is read-only, apart from the volumes. */
  static async create(
    name: string,
    { image, volumes, overlays }: ContainerOptions,
  ): Promise<Container> {
    const { root } = await overlays.layer(name, image.layers, (root) => {
      for (const path of Object.keys(volumes)) mkdirSync(join(root, path), { recursive: true });
    });
    const mounts = Object.entries({ '/sys': '/sys', ...volumes }).map(
      ([path, folder]) => `mount --rbind ${folder} "$root${path}"`,
    );
    return new Container(image, root, mounts);
  }

  /** @param command default: that of the image */
  argv(
    command: readonly string[] = [...this.#image.entrypoint, ...this.#image.cmd],
    env: Readonly<Record<string, string>> = {},
  ): string[] {
    return chrootCommand({
      root: this.#root,
      command,
      env: { ...this.#image.env, ...env },
      workdir: this.#image.workdir,
      mounts: this.#mounts,
      sharesProcesses: true,
    });
  }

  /** @param prefix argument vector before it, to enter a network namespace */
  start(
    log: string,
    prefix: readonly string[],
    command?: readonly string[],
    env?: Readonly<Record<string, string>>,
  ): Background {
    return new Background([...prefix, ...this.argv(command, env)], { log });
  }
}
