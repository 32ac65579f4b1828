/**
 *     node scripts/fetch-kafka.ts [version]
 *
 * Fetches a Kafka broker with Maven (Debian: apt-get install maven) into .cache/kafka/<version>, where
 * test/integration/kafka finds it. The broker needs Java 17. Releases before 3.3 run with ZooKeeper,
 * which is fetched with them, and releases before 2.0 with a package that Java had at their time.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const DEFAULT_VERSION = '4.1.0';

const version = process.argv[2] ?? DEFAULT_VERSION;
if (!/^[0-9]+(\.[0-9]+){2,3}$/.test(version)) {
  console.error(`${version} is not a release of Kafka such as ${DEFAULT_VERSION}`);
  process.exit(1);
}
const folder = join(import.meta.dirname, '../.cache/kafka', version);
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'pom.xml'), project(version));
const copy = ['dependency:copy-dependencies', '-DoutputDirectory=libs', '-DincludeScope=runtime'];
const { status } = spawnSync('mvn', ['--quiet', '--batch-mode', ...copy], {
  cwd: folder,
  stdio: 'inherit',
});
if (status !== 0) process.exit(status ?? 1);
console.log(`${join(folder, 'libs')}: ${readdirSync(join(folder, 'libs')).length} jars`);

function project(release: string): string {
  const dependency = (group: string, artifact: string, of: string): string =>
    `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${of}</version></dependency>`;
  return `<project>
<modelVersion>4.0.0</modelVersion>
<groupId>test</groupId><artifactId>kafka</artifactId><version>1</version>
<dependencies>
${dependency('org.apache.kafka', `kafka_${scalaOf(release)}`, release)}
${dependency('org.slf4j', 'slf4j-simple', '1.7.36')}
${dependency('javax.xml.bind', 'jaxb-api', '2.3.1')}
</dependencies>
</project>
`;
}

/** Releases are built for several versions of Scala; which ones has changed over time. */
function scalaOf(release: string): string {
  const [major = 0, minor = 0] = release.split('.').map(Number);
  if (major >= 3 || (major === 2 && minor >= 4)) return '2.13';
  return major >= 1 || minor >= 11 ? '2.12' : '2.11';
}
