/** Gives each part of a program a logger whose level can be changed while it runs: `node examples/log-levels/levels.ts` */
import { Loggers } from 'contiv-vswitch';

const shown = ({ logger, level, msg }: Record<string, unknown>): void =>
  console.log(`${logger} ${level}: ${msg}`);
const loggers = new Loggers(
  { 'default-level': 'info', loggers: [{ name: 'reader', level: 'debug' }] },
  undefined,
  { write: (line: string) => shown(JSON.parse(line)) },
);

const [reader, writer] = [loggers.get('reader'), loggers.get('writer')];
reader.debug('its level is in the configuration');
writer.debug('this is below its level');
loggers.setLevel('writer', 'debug');
writer.debug('now it is seen');
console.log(
  loggers
    .list()
    .map(({ logger, level }) => `${logger}=${level}`)
    .join(' '),
);
