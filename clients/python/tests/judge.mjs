// What genai-prices in JavaScript says that uses cost. `data PROVIDER...` prints its providers, a line of JSON for each;
// without arguments each line `{provider, model, usage}` is answered by one with dollars, the prices that count and the
// model, and by `{}` where the provider has no such model.
import { readFileSync } from 'node:fs';
import { calcPrice, findProvider } from '@pydantic/genai-prices';

const of = (providerId) => [findProvider({ providerId })].find((provider) => provider?.id === providerId);

function answer({ provider: id, model: name, usage }) {
  const provider = of(id);
  try {
    const { total_price: dollars, model_price: prices, model } = (provider && calcPrice(usage, name, { provider })) ?? {};
    return provider?.models.some((each) => each.id === model?.id) ? { dollars, prices, model } : {};
  } catch ({ message }) {
    return { message };
  }
}

const [, , mode, ...providers] = process.argv;
const answers = mode === 'data' ? providers.map((id) => of(id) ?? null) : readFileSync(0, 'utf8').split('\n').map((line) => answer(JSON.parse(line)));
console.log(answers.map((each) => JSON.stringify(each)).join('\n'));
