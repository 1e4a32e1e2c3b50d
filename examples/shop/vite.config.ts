import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  plugins: [react()],
  // The clients are linked from this repository, where another React may be.
  resolve: { dedupe: ['react', 'react-dom'] },
});
