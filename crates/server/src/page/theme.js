// Sets the theme that was chosen here before, ahead of the first paint, so that nothing flashes.
// It is no module on purpose: a module would run after the page has been drawn.
try {
  const chosen = localStorage.getItem("motley-theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  // Where storage is forbidden the page follows the system.
}
