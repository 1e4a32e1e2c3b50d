import '@fontsource-variable/bricolage-grotesque';
import '@scrip-wallet/react/styles.css';
import { ScripProvider } from '@scrip-wallet/react';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './App';
import './shop.css';

const { VITE_SCRIP_URL, VITE_SCRIP_KEY } = import.meta.env;

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <ScripProvider baseUrl={VITE_SCRIP_URL} publishableKey={VITE_SCRIP_KEY}>
      <App />
    </ScripProvider>
  </StrictMode>,
);
