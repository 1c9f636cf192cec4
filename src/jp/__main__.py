from jp.boot import main

main()
