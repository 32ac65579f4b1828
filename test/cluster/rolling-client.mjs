// A client of a service: new connections at a rate, and open ones with a request every 200 ms, each for ten seconds.
// Prints each failure and, once a second, what it has counted.
import http from 'node:http';

const [host, newPerSecond, open] = [
  process.argv[1],
  Number(process.argv[2]),
  Number(process.argv[3]),
];
const LIFE_MS = 10_000;
const LIMIT_MS = 2000;
const counted = { requests: 0, failed: 0, openRequests: 0, cut: 0 };

function ask(agent, failed) {
  const request = http.get(
    { host, port: 80, path: '/hostname', agent, timeout: LIMIT_MS },
    (reply) => {
      reply.resume();
      reply.on('error', failed);
    },
  );
  request.on('timeout', () => request.destroy(new Error('timeout')));
  request.on('error', failed);
  return request;
}

setInterval(() => {
  for (let each = 0; each < newPerSecond / 20; each++) {
    counted.requests++;
    let hasFailed = false;
    ask(false, ({ message }) => {
      if (!hasFailed) counted.failed++;
      hasFailed = true;
      console.log(`failed ${new Date().toISOString()} ${message}`);
    });
  }
}, 50);

function keepOpen() {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  let isOver = false;
  const end = () => {
    isOver = true;
    clearInterval(timer);
    agent.destroy();
    keepOpen();
  };
  const timer = setInterval(() => {
    counted.openRequests++;
    ask(agent, ({ message }) => {
      if (isOver) return;
      counted.cut++;
      console.log(`cut ${new Date().toISOString()} ${message}`);
      end();
    });
  }, 200);
  setTimeout(() => {
    if (!isOver) end();
  }, LIFE_MS);
}

for (let each = 0; each < open; each++) setTimeout(keepOpen, (each * LIFE_MS) / open);
setInterval(() => console.log(`counted ${JSON.stringify(counted)}`), 1000);
