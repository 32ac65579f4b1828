/**
 * Builds the targets of the Dockerfile without a container engine: each stage is a layer of an overlay, RUN
 * is a shell in a chroot.
 */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { packageCache } from '../../../scripts/lib/image-bases.ts';
import { runInChroot } from './chroot.ts';
import { assignments, type Instruction, parseDockerfile, type Stage, words } from './dockerfile.ts';
import { type Overlays, withBelow } from './overlay.ts';

export interface Image {
  /** Read-only. */
  readonly root: string;
  /** Folders with the files of its layers, uppermost first; the last ones are of the base. */
  readonly layers: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly workdir: string;
  readonly entrypoint: readonly string[];
  /** Default arguments. */
  readonly cmd: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

export interface BuildOptions {
  /** Folder with the Dockerfile. */
  readonly context: string;
  /** Values of arguments, as `--build-arg`. */
  readonly args: Readonly<Record<string, string>>;
  /** A folder that stands for what is below an address, in ADD and RUN. */
  readonly mirror: { readonly address: string; readonly folder: string };
  /** @returns folders of the layers of an image, uppermost first */
  readonly baseImage: (image: string) => Promise<readonly string[]>;
  readonly overlays: Overlays;
  /** Stages whose files are kept for the next build with the same instructions and files. */
  readonly kept: readonly string[];
  /** Gets the output of RUN. */
  readonly log: string;
}

const MIRROR = '/run/mirror';
/** Name of the file that is in the folder of a kept stage when all of its instructions were executed. */
const COMPLETE = 'complete';

interface State {
  readonly env: Record<string, string>;
  readonly args: Record<string, string>;
  readonly labels: Record<string, string>;
  workdir: string;
  entrypoint: readonly string[];
  cmd: readonly string[];
}

export class ImageBuild {
  readonly #options: BuildOptions;
  readonly #stages: ReadonlyMap<string, Stage>;
  readonly #globals: Readonly<Record<string, string>>;
  readonly #built = new Map<string, Promise<{ image: Image; state: State }>>();
  readonly #ignored: readonly string[];

  constructor(options: BuildOptions) {
    this.#options = options;
    const file = parseDockerfile(readFileSync(join(options.context, 'Dockerfile'), 'utf8'));
    this.#stages = new Map(file.stages.map((stage) => [stage.name, stage]));
    const values = file.args.flatMap(({ text }) => assignments(text));
    this.#globals = Object.fromEntries(values.map(([name, value]) => [name, value ?? '']));
    const [all, ...kept] = readFileSync(join(options.context, '.dockerignore'), 'utf8')
      .trim()
      .split('\n');
    if (all !== '*') throw new Error('.dockerignore has to begin with *');
    this.#ignored = kept.map((line) => line.replace(/^!/, ''));
  }

  async image(target: string): Promise<Image> {
    return (await this.#stage(target)).image;
  }

  #stage(name: string): Promise<{ image: Image; state: State }> {
    const known = this.#built.get(name);
    if (known !== undefined) return known;
    const stage = this.#stages.get(name);
    if (stage === undefined) throw new Error(`no stage ${name}`);
    const built = this.#build(stage);
    this.#built.set(name, built);
    return built;
  }

  async #build(stage: Stage): Promise<{ image: Image; state: State }> {
    const from = substitute(stage.from, this.#globals);
    const before = this.#stages.has(from) ? await this.#stage(from) : undefined;
    const state: State = {
      env: {
        PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
        ...before?.state.env,
      },
      args: {},
      labels: { ...before?.state.labels },
      workdir: before?.state.workdir ?? '/',
      entrypoint: before?.state.entrypoint ?? [],
      cmd: before?.state.cmd ?? [],
    };
    const below = before?.image.layers ?? (await this.#options.baseImage(from));
    const { kept, overlays } = this.#options;
    const folder = kept.includes(stage.name) ? this.#keptFolder(stage) : undefined;
    const isComplete = folder !== undefined && existsSync(join(folder, COMPLETE));
    // Of a build that was interrupted.
    if (folder !== undefined && !isComplete) rmSync(folder, { recursive: true, force: true });
    const fill = async (root: string): Promise<void> => {
      for (const instruction of stage.instructions)
        if (instruction.name !== 'RUN' || !isComplete)
          await this.#execute(instruction, state, root);
    };
    const { layer, root } = await overlays.layer(stage.name, below, fill, folder);
    if (folder !== undefined) writeFileSync(join(folder, COMPLETE), '');
    const { env, workdir, labels, entrypoint, cmd } = state;
    const layers = withBelow(layer);
    return { state, image: { root, layers, env, workdir, labels, entrypoint, cmd } };
  }

  /** Folder of a stage that is kept: of these instructions and these files. */
  #keptFolder({ instructions }: Stage): string {
    const hash = createHash('sha256').update(JSON.stringify(instructions));
    for (const { name, text } of instructions)
      if (name === 'COPY')
        for (const file of words(text).slice(0, -1))
          hash.update(readFileSync(join(this.#options.context, file)));
    return join(packageCache, 'stages', hash.digest('hex').slice(0, 16));
  }

  async #execute(instruction: Instruction, state: State, root: string): Promise<void> {
    const variables = { ...state.args, ...state.env };
    const text = substitute(instruction.text, variables);
    switch (instruction.name) {
      case 'ARG':
        for (const [name, value] of assignments(text))
          state.args[name] = this.#options.args[name] ?? value ?? this.#globals[name] ?? '';
        return;
      case 'ENV':
        for (const [name, value] of assignments(text)) state.env[name] = value ?? '';
        return;
      case 'LABEL':
        for (const [name, value] of assignments(text)) state.labels[name] = value ?? '';
        return;
      case 'WORKDIR':
        state.workdir = text;
        mkdirSync(join(root, text), { recursive: true });
        return;
      case 'COPY':
        return this.#copy(instruction, text, state, root);
      case 'ADD':
        return this.#add(instruction, text, root);
      case 'RUN':
        return this.#run(instruction.text, variables, state, root);
      case 'ENTRYPOINT':
        state.entrypoint = JSON.parse(text);
        return;
      case 'CMD':
        state.cmd = JSON.parse(text);
        return;
      case 'EXPOSE':
        return;
      case 'FROM':
        throw new Error('FROM begins a stage');
    }
  }

  async #copy({ flags }: Instruction, text: string, state: State, root: string): Promise<void> {
    const { from, ...others } = flags;
    if (Object.keys(others).length > 0) throw new Error(`unknown flag of COPY: ${text}`);
    const paths = words(text);
    const target = paths.pop()!;
    const source =
      from === undefined ? this.#options.context : (await this.#stage(from)).image.root;
    for (const path of paths) {
      if (from === undefined && !this.#ignored.includes(path))
        throw new Error(`${path} is not in the context: see .dockerignore`);
      const intoFolder = target.endsWith('/');
      const to = join(root, resolve(state.workdir, target), intoFolder ? basename(path) : '');
      if (!existsSync(join(source, path))) throw new Error(`COPY: no ${path}`);
      cpSync(join(source, path), to, { recursive: true, verbatimSymlinks: true });
    }
  }

  #add({ flags }: Instruction, text: string, root: string): void {
    const [from = '', target = ''] = words(text);
    const { address, folder } = this.#options.mirror;
    if (!from.startsWith(address)) throw new Error(`ADD: nothing stands for ${from}`);
    const to = join(root, target);
    cpSync(join(folder, from.slice(address.length)), to);
    chmodSync(to, Number.parseInt(flags['chmod'] ?? '600', 8));
  }

  /** @param text with variables, which are for the shell */
  async #run(
    text: string,
    variables: Readonly<Record<string, string>>,
    state: State,
    root: string,
  ): Promise<void> {
    const { address, folder } = this.#options.mirror;
    mkdirSync(join(packageCache, 'apt/partial'), { recursive: true });
    mkdirSync(join(packageCache, 'npm'), { recursive: true });
    await runInChroot(
      {
        root,
        command: ['/bin/sh', '-c', text.replaceAll(address, `file:${MIRROR}`)],
        workdir: state.workdir,
        sharesProcesses: false,
        // Names for the network, and packages that were fetched before; nothing of it is in the image.
        mounts: [
          'mount -t tmpfs tmpfs "$root/run"',
          `mkdir "$root/run/packages" "$root${MIRROR}" "$root/run/certs"`,
          `mount --bind ${packageCache} "$root/run/packages"`,
          `mount --bind ${folder} "$root${MIRROR}"`,
          'mount --bind /etc/ssl/certs "$root/run/certs"',
          'mount --bind /etc/resolv.conf "$root/etc/resolv.conf"',
          `echo 'Dir::Cache::Archives "/run/packages/apt/"; APT::Sandbox::User "root"; Acquire::Languages "none"; Acquire::https::CAInfo "/run/certs/ca-certificates.crt"; DPkg::Options { "--force-unsafe-io"; };' >"$root/run/apt.conf"`,
        ],
        env: {
          ...variables,
          HOME: '/root',
          DEBIAN_FRONTEND: 'noninteractive',
          APT_CONFIG: '/run/apt.conf',
          npm_config_cache: '/run/packages/npm',
          NODE_EXTRA_CA_CERTS: '/run/certs/ca-certificates.crt',
        },
      },
      this.#options.log,
    );
  }
}

function substitute(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$\{?([A-Za-z_]\w*)\}?/g, (_, name: string) => values[name] ?? '');
}
