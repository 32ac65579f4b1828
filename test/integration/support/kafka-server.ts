/** A Kafka broker on loopback, in a folder of its own; before release 3.3 with a ZooKeeper. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Admin } from '@platformatic/kafka';
import { systemClock } from '#infra/clock/system.ts';
import { findKafka } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { freePort } from './free-port.ts';
import { resume, suspend } from './suspend.ts';

/** A JVM on a busy machine. */
const START_LIMIT_MS = 180_000;
const CLUSTER_ID = 'AAAAAAAAAAAAAAAAAAAAAA';

export interface KafkaServerOptions {
  /** Lines of server.properties besides the usual ones. */
  readonly settings?: readonly string[];
  /** Serve TLS with these settings instead of plain TCP. */
  readonly tls?: readonly string[];
}

export class KafkaServer {
  readonly port: number;
  readonly #folder: string;
  readonly #otherPort: number;
  readonly #options: KafkaServerOptions;
  #broker: ChildProcess | undefined;
  #zookeeper: ChildProcess | undefined;

  static async start(options: KafkaServerOptions = {}): Promise<KafkaServer> {
    const server = await KafkaServer.prepare(options);
    await server.run();
    return server;
  }

  /** A broker that does not run yet. */
  static async prepare(options: KafkaServerOptions = {}): Promise<KafkaServer> {
    const folder = await mkdtemp(join(tmpdir(), 'kafka-'));
    const server = new KafkaServer(folder, await freePort(), await freePort(), options);
    await server.#prepare();
    return server;
  }

  /** Release of the jars. */
  static release(): string {
    const jar = readdirSync(findKafka()!).find((name) => /^kafka-clients-[0-9.]+\.jar$/.test(name));
    return /[0-9.]+[0-9]/.exec(jar!)![0];
  }

  private constructor(
    folder: string,
    port: number,
    otherPort: number,
    options: KafkaServerOptions,
  ) {
    this.#folder = folder;
    this.port = port;
    this.#otherPort = otherPort;
    this.#options = options;
  }

  get #hasController(): boolean {
    const [major = 0, minor = 0] = KafkaServer.release().split('.').map(Number);
    return major > 3 || (major === 3 && minor >= 3);
  }

  get #log(): string {
    return join(this.#folder, 'broker.log');
  }

  async #prepare(): Promise<void> {
    const { settings = [], tls } = this.#options;
    const protocol = tls ? 'SSL' : 'PLAINTEXT';
    const host = tls ? 'localhost' : '127.0.0.1';
    const mode = this.#hasController
      ? [
          'process.roles=broker,controller',
          'node.id=1',
          `controller.quorum.voters=1@127.0.0.1:${this.#otherPort}`,
          `listeners=${protocol}://${host}:${this.port},CONTROLLER://127.0.0.1:${this.#otherPort}`,
          'controller.listener.names=CONTROLLER',
          'listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SSL:SSL,CONTROLLER:PLAINTEXT',
        ]
      : [
          'broker.id=1',
          `zookeeper.connect=127.0.0.1:${this.#otherPort}`,
          // A broker that was killed is known until its session ends.
          'zookeeper.session.timeout.ms=2000',
          'zookeeper.connection.timeout.ms=60000',
          `listeners=${protocol}://${host}:${this.port}`,
        ];
    const lines = [
      ...mode,
      `inter.broker.listener.name=${protocol}`,
      `advertised.listeners=${protocol}://${host}:${this.port}`,
      `log.dirs=${join(this.#folder, 'data')}`,
      'offsets.topic.replication.factor=1',
      'offsets.topic.num.partitions=1',
      'transaction.state.log.replication.factor=1',
      'transaction.state.log.min.isr=1',
      'group.initial.rebalance.delay.ms=0',
      'group.min.session.timeout.ms=1000',
      ...(tls ?? []),
      ...settings,
    ];
    // Of releases before 4.0; without it they log nothing.
    const log4j = [
      'log4j.rootLogger=INFO, out',
      'log4j.appender.out=org.apache.log4j.ConsoleAppender',
      'log4j.appender.out.layout=org.apache.log4j.SimpleLayout',
    ];
    await writeFile(join(this.#folder, 'log4j.properties'), `${log4j.join('\n')}\n`);
    await writeFile(join(this.#folder, 'server.properties'), `${lines.join('\n')}\n`);
    if (this.#hasController) this.#format();
    else await this.#startZookeeper();
  }

  #format(): void {
    const args = ['kafka.tools.StorageTool', 'format', '-t', CLUSTER_ID, '-c'];
    const { status, stdout, stderr } = spawnSync(
      'java',
      [...this.#java(), ...args, join(this.#folder, 'server.properties')],
      { encoding: 'utf8' },
    );
    if (status !== 0) throw new Error(`kafka.tools.StorageTool: ${stdout}${stderr}`);
  }

  async #startZookeeper(): Promise<void> {
    const file = join(this.#folder, 'zookeeper.properties');
    const lines = [
      `dataDir=${join(this.#folder, 'zookeeper')}`,
      `clientPort=${this.#otherPort}`,
      'clientPortAddress=127.0.0.1',
      'admin.enableServer=false',
    ];
    await writeFile(file, `${lines.join('\n')}\n`);
    const main = 'org.apache.zookeeper.server.quorum.QuorumPeerMain';
    this.#zookeeper = spawn('java', [...this.#java(), main, file], { stdio: 'ignore' });
    await until('ZooKeeper is started', () => acceptsConnections(this.#otherPort), START_LIMIT_MS);
  }

  #java(): string[] {
    const options = ['-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];
    const log = `-Dlog4j.configuration=file:${join(this.#folder, 'log4j.properties')}`;
    return [...options, log, '-cp', join(findKafka()!, '*')];
  }

  /** The command of the broker, for a test that starts it itself. */
  get command(): readonly string[] {
    return ['java', ...this.#java(), 'kafka.Kafka', join(this.#folder, 'server.properties')];
  }

  /** Starts or restarts the broker on the data of the folder. */
  async run(): Promise<void> {
    const log = openSync(this.#log, 'w');
    const [program = '', ...args] = this.command;
    this.#broker = spawn(program, args, { stdio: ['ignore', log, log] });
    closeSync(log);
    await until(
      'the Kafka broker is started',
      () => {
        if (this.#broker?.exitCode !== null)
          throw new Error(`the Kafka broker has ended: ${this.#text().slice(-3000)}`);
        return this.#isStarted();
      },
      START_LIMIT_MS,
    );
  }

  /** Whether the broker accepts connections, and without TLS also whether it is part of the cluster. */
  async #isStarted(): Promise<boolean> {
    if (!(await acceptsConnections(this.port))) return false;
    if (this.#options.tls) return true;
    const admin = this.#admin();
    const metadata = await admin.metadata({ topics: [] }).catch(() => undefined);
    await admin.close();
    return metadata !== undefined && metadata.brokers.size > 0;
  }

  #admin(): Admin {
    return new Admin({
      clientId: 'test',
      bootstrapBrokers: [`127.0.0.1:${this.port}`],
      retries: 0,
    });
  }

  #text(): string {
    return readFileSync(this.#log, 'utf8');
  }

  /** Only without TLS. */
  async createTopic(topic: string, partitions: number): Promise<void> {
    const admin = this.#admin();
    await admin.createTopics({ topics: [topic], partitions, replicas: 1 });
    for (;;) {
      const metadata = await admin
        .metadata({ topics: [topic], forceUpdate: true })
        .catch(() => undefined);
      if (metadata?.topics.get(topic)?.partitions.every(({ leader }) => leader >= 0)) break;
      await systemClock.sleep(50);
    }
    await admin.close();
  }

  /** Only without TLS. */
  async deleteTopic(topic: string): Promise<void> {
    const admin = this.#admin();
    await admin.deleteTopics({ topics: [topic] });
    await admin.close();
  }

  async kill(): Promise<void> {
    await end(this.#broker);
    this.#broker = undefined;
  }

  suspend(): Promise<void> {
    return suspend(this.#broker!.pid!);
  }

  resume(): void {
    resume(this.#broker!.pid!);
  }

  async close(): Promise<void> {
    await this.kill();
    await end(this.#zookeeper);
    await rm(this.#folder, { recursive: true, force: true });
  }
}

function acceptsConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}

async function end(running: ChildProcess | undefined): Promise<void> {
  if (!running || running.exitCode !== null || running.signalCode !== null) return;
  const exit = once(running, 'exit');
  running.kill('SIGKILL');
  await exit;
}
