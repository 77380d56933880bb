void engine();
int main() { engine(); }
