import { variantOf } from '../model-options/variants.js';
import type { VariantName } from '../model-options/variants.js';
import { serve } from './serve.js';
import { startNest } from './start-nest.js';

const { BENCH_VARIANT = 'plain', BENCH_ITEM_TABLE = 'item', BENCH_PLATFORM = 'express' } = process.env;
const variant = variantOf(BENCH_VARIANT as VariantName);
const platform = BENCH_PLATFORM === 'fastify' ? 'fastify' : 'express';

await serve(async () => {
  if (variant.server === 'limit') {
    const { MODEL_OPTIONS_LIMIT } = await import('./model-options-limit.js');
    return startNest(MODEL_OPTIONS_LIMIT, platform);
  }
  if (variant.server === 'by-hand') {
    const { configureByHand, MODEL_OPTIONS_BY_HAND } = await import('./model-options-by-hand.js');
    return startNest(MODEL_OPTIONS_BY_HAND, platform, configureByHand);
  }
  const { modelOptionsApp } = await import('./model-options-app.js');
  return startNest(modelOptionsApp(variant.name, BENCH_ITEM_TABLE), platform);
});
