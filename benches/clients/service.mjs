// A user's program in small: a service that deducts once for each request. Prints its port; /figures answers how long
// its deductions took, in milliseconds, since it was last asked.
import { createServer } from 'node:http';
import { ScripServer } from '../../clients/server/dist/index.js';

const { BASE_URL: baseUrl, SECRET_KEY: secretKey, WALLETS: wallets, GATHER } = process.env;
const scrip = new ScripServer({ baseUrl, secretKey, gather: GATHER === 'true' });
let times = [];

const server = createServer(async (request, response) => {
  if (request.url === '/figures') {
    times.sort((one, other) => one - other);
    const [p50, p99] = [0.5, 0.99].map((part) => times[Math.floor(times.length * part)] ?? 0);
    times = [];
    return response.end(JSON.stringify({ p50, p99 }));
  }
  const externalUserId = `user_${1 + Math.floor(Math.random() * wallets)}`;
  const began = performance.now();
  try {
    const { balance } = await scrip.deduct({ externalUserId, amount: 1, meta: { feature: 'image' } });
    times.push(performance.now() - began);
    response.end(String(balance));
  } catch (error) {
    response.statusCode = 500;
    response.end(String(error));
  }
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
