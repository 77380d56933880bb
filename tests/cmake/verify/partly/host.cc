void math();
int main() { math(); }
